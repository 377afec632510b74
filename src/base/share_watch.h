/* Share watch: whether one kind of work takes most of the time, asked again and again, answered once. */
#ifndef RADIXPIC_BASE_SHARE_WATCH_H
#define RADIXPIC_BASE_SHARE_WATCH_H

#include <stdbool.h>

struct share_watch {
    double began, spent; /* of the interval: timer_now(), and the seconds spent until then */
    bool told;
};

/* Seconds that are looked at together. */
enum { SHARE_WATCH_SECONDS = 30 };

/* True, once, when the work had more than half of an interval: `spent` seconds of all until `now`. */
bool share_watch_is_most(struct share_watch *watch, double now, double spent);

#endif
