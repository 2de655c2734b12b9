/* admin/overview.h – the numbers of the overview, computed once for all who ask within a second,
 * unless something was changed by a call in between. Threads: any. */
#ifndef HYTHE_ADMIN_OVERVIEW_H
#define HYTHE_ADMIN_OVERVIEW_H

struct overview_box;
struct overview_box *overview_new(void); /* NULL: out of memory */
void overview_free(struct overview_box *box);
/* After a commit, before its caller is answered: the next who asks sees it. */
void overview_forget(struct overview_box *box);

#endif
