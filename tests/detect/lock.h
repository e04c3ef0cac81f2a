/* lock.h - locks in the forms in which CUDA programs write them: FORM_TAKE(l) and FORM_GIVE(l), without fences. */
struct lock { int word, next, serving; };

#if defined V_CAS_EXCH || defined V_CAS_STORE
#define FORM_TAKE(l) while (atomicCAS(&(l)->word, 0, 1) != 0)
#elif defined V_EXCH_EXCH || defined V_EXCH_STORE
#define FORM_TAKE(l) while (atomicExch(&(l)->word, 1) != 0)
#elif defined V_TTAS
#define FORM_TAKE(l) while (*(volatile int *)&(l)->word != 0 || atomicCAS(&(l)->word, 0, 1) != 0)
#else
#define FORM_TAKE(l) for (int mine = atomicAdd(&(l)->next, 1); *(volatile int *)&(l)->serving != mine;)
#endif
#if defined V_CAS_STORE || defined V_EXCH_STORE
#define FORM_GIVE(l) *(volatile int *)&(l)->word = 0
#elif defined V_TICKET
#define FORM_GIVE(l) *(volatile int *)&(l)->serving = *(volatile int *)&(l)->serving + 1
#else
#define FORM_GIVE(l) atomicExch(&(l)->word, 0)
#endif
