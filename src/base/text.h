/* Text: UTF-8 as it may stand in a config, and as it may be printed. */
#ifndef RADIXPIC_BASE_TEXT_H
#define RADIXPIC_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Bytes of the UTF-8 character at `text` (at most `left` of them), its code in `code`; 0: no UTF-8. */
size_t text_character(const char *text, size_t left, uint32_t *code);

/* Controls, the line breaks and byte order marks of Unicode, and what changes the direction of text: a
 * terminal would not show it but obey it. */
bool text_is_hidden(uint32_t code);

/* `text` as a terminal or log may get it, for free(): \xHH for a hidden byte or one that is no UTF-8, \uHHHH
 * for a hidden character; line ends and tabs as they are where it `has_lines`. NULL: no memory. */
char *text_escaped(const char *text, bool has_lines);

/* A word as a shell reads it back; hidden characters as bash and zsh read them. */
void text_print_word(FILE *stream, const char *word);

/* NULL when `text` is UTF-8 of printable characters on one line, or for a path of any characters but NUL;
 * otherwise what it holds instead, in words. */
const char *text_fault(const char *text, size_t length, bool is_path);

enum { TEXT_SHOWN_LENGTH = 64 };

/* `text` for a message: cut to fit ("..."), "?" for what would upset a terminal. Returns `shown`. */
const char *text_shown(const char *text, size_t length, char shown[TEXT_SHOWN_LENGTH]);

enum { TEXT_NUMBER_LENGTH = 32 };

/* The fewest digits that give the same double back: 0.1 stays 0.1. Returns `digits`. */
const char *text_number(double number, char digits[TEXT_NUMBER_LENGTH]);

#endif
