/* admin/overview.h – the numbers of the overview, computed once for all who ask within a second. */
#ifndef HYTHE_ADMIN_OVERVIEW_H
#define HYTHE_ADMIN_OVERVIEW_H

struct overview_box;
struct overview_box *overview_new(void); /* NULL: out of memory */
void overview_free(struct overview_box *box);

#endif
