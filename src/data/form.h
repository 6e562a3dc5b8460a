/* What the values of an input stand for, or how they are written, if they are not simply numbers: the model remembers it, so that later files are read
 * the same way. */
#ifndef BROAD_DATA_FORM_H
#define BROAD_DATA_FORM_H

#include <stddef.h>

typedef enum broad__form {
    BROAD__FORM_NUMBER,
    BROAD__FORM_TRUTH,         /* yes and no, true and false: 1 and 0 */
    BROAD__FORM_DATE,          /* days since 1970-01-01, with the time of day as a fraction */
    BROAD__FORM_DATE_DAY,      /* the same; in 5/6/2024 the day comes first */
    BROAD__FORM_DATE_MONTH,    /* ... the month comes first */
    BROAD__FORM_DECIMAL_COMMA, /* a number, written with a decimal comma: 1.234 is more than a thousand */
    BROAD__FORM_DECIMAL_POINT, /* ... with marks and a decimal point: 1,234 is more than a thousand */
    BROAD__FORM_COUNT
} broad__form;

/* An input that is not simply a number. */
typedef struct broad__formed {
    size_t input;
    broad__form form;
} broad__formed;

/* In the order of the inputs. */
typedef struct broad__forms {
    size_t count;
    broad__formed *items;
} broad__forms;

int broad__forms_copy(broad__forms *out, const broad__forms *from);
int broad__forms_add(broad__forms *forms, size_t input, broad__form form);
broad__form broad__forms_find(const broad__forms *forms, size_t input);
void broad__forms_clear(broad__forms *forms);

#endif
