/* Share watch: one interval after the other. */
#include "base/share_watch.h"

bool share_watch_is_most(struct share_watch *watch, double now, double spent)
{
    if (now - watch->began < SHARE_WATCH_SECONDS)
        return false;
    const bool is_most = !watch->told && spent - watch->spent > 0.5 * (now - watch->began);
    *watch = (struct share_watch){now, spent, watch->told || is_most};
    return is_most;
}
