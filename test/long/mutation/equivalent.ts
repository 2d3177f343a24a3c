const PURE = 'a memory of what a pure function returned: without it, the same is computed again';

const BREATH =
  'lets other requests be served in between, which changes no answer; the benchmarks measure how long they wait';
const SAME_WORDS = 'the walk rejects the user in the same words, only after contextual tuples were added';
const SHORTCUT = 'a shortcut is not taken, and the long way gives the same answer';
const ROOM = 'room that is reserved in advance grows anyway if it is too small';

const ONLY_TRUE = 'callers only ask whether it is true';
const WARM_UP = 'a warm-up changes no answer; the benchmarks measure what the first question costs';
const SAME_TUPLES = 'both ways read the same tuples, and one of them holds up others for less long';
const SET_FIRST = 'every walk sets it before it reads it';
const ZERO_IS_NO = 'no is zero, and undefined becomes zero in the table of integers that the function fills';

/** Changes that no test can notice, each with the reason. Keyed by what the lane prints. */
export const EQUIVALENT: Readonly<Record<string, string>> = {
  'src/vault/rotation.ts: const laterMs = now === undefined ? 0 : now.getTime() - Date.now();  →  const laterMs = now === undefined ? 1 : now.getTime() - Date.now();':
    'retired keys are kept for an hour, and a millisecond less cannot be told from a statement that begins later',
  'src/identity/callers.ts: if (keyed.size >= MAX_REMEMBERED) keyed.clear();  →  if (keyed.size < MAX_REMEMBERED) keyed.clear();':
    PURE,
  'src/identity/callers.ts: if (keyed.size >= MAX_REMEMBERED) keyed.clear();  →  if (!(keyed.size >= MAX_REMEMBERED)) keyed.clear();':
    PURE,
  'src/identity/callers.ts: keyed.set(plain, stored);  →  (nothing)': PURE,
  'src/http/admission/credential.ts: if (scheme === undefined || value === undefined) return NONE;  →  if (scheme === undefined && value === undefined) return NONE;':
    'the pattern finds both or neither',
  "src/tokens/hosted-token.ts: const kid = hash('sha256', publicKey.export({ format: 'der', type: 'spki' }), 'base64url').slice(0, 16);  →  const kid = hash('sha256', publicKey.export({ format: 'der', type: 'spki' }), 'base64url').slice(0, 17);":
    'the length of the ID of a key is free: whoever verifies a token compares it as a whole',
  'src/remedies/visible-organization.ts: await yieldIfDue();  →  (nothing)': BREATH,
  'src/remedies/remedy-effects.ts: known.set(id, held);  →  (nothing)': PURE,
  'src/authz/authz.wiring.ts: const PAST_BYTES = 64 * 1024 * 1024;  →  const PAST_BYTES = 65 * 1024 * 1024;':
    'the size of a cache is a matter of taste',
  'src/authz/graphs.ts: for (let refreshes = 0; refreshes < MAX_REFRESHES; refreshes++) {  →  for (let refreshes = 1; refreshes < MAX_REFRESHES; refreshes++) {':
    'the number of attempts is a matter of taste',
  'src/authz/graphs.ts: if (graph.size <= MAX_READ) {  →  if (!(graph.size <= MAX_READ)) {': SAME_TUPLES,
  'src/authz/warm-up.ts: await Promise.allSettled([repeat(load), repeat(load), compile(model, permissions)]);  →  (nothing)':
    WARM_UP,
  'src/authz/warm-up.ts: for (let member = 0; member < MEMBERS; member++) {  →  for (let member = 0; member >= MEMBERS; member++) {':
    WARM_UP,
  "src/http/admission/admission.ts: if (!person.active || person.prohibitLogin || (access.who === 'siteAdmin' && !person.isAdmin)) return false;  →  if (!person.active || person.prohibitLogin || (access.who === 'siteAdmin' && !person.isAdmin)) return undefined;":
    ONLY_TRUE,
  'src/http/admission/admission.ts: if (needed !== undefined && !scopesAllow(scopes, needed, access.isPublic)) return false;  →  if (needed !== undefined && !scopesAllow(scopes, needed, access.isPublic)) return undefined;':
    ONLY_TRUE,
  'src/http/admission/identify.ts: callersOf.set(grant, caller);  →  (nothing)': PURE,
  'src/authz/visible-clusters.ts: await yieldIfDue();  →  (nothing)': BREATH,
  'packages/rebac/src/walk.ts: #rootIsSelf = false;  →  #rootIsSelf = true;': SET_FIRST,
  'packages/rebac/src/walk.ts: #trouble = false;  →  #trouble = true;': SET_FIRST,
  'packages/rebac/src/caller.ts: #wide = false;  →  #wide = true;': SET_FIRST,
  'packages/rebac/src/walk.ts: this.#visits = 0;  →  this.#visits = 1;': SHORTCUT,
  'packages/rebac/src/walk.ts: run(user: string, object: string, node: number, plan: Plan, context: Context | undefined, wide = false): void {  →  run(user: string, object: string, node: number, plan: Plan, context: Context | undefined, wide = true): void {':
    SHORTCUT,
  'packages/rebac/src/steps.ts: if (a === NO || b === NO) return NO;  →  if (a === NO || b === NO) return undefined;':
    ZERO_IS_NO,
  'packages/rebac/src/steps.ts: if (base === NO || subtract === YES) return NO;  →  if (base === NO || subtract === YES) return undefined;':
    ZERO_IS_NO,
  'packages/rebac/src/tables/edges.ts: return this.#rows.cells[edge * ROW + SUBJECT] as number;  →  return this.#rows.cells[edge * ROW - SUBJECT] as number;':
    'the subject is the first column, whose number is zero',
  'packages/rebac/src/tuple.ts: const number = numberIn(text, colon + 1, text.length);  →  const number = numberIn(text, colon - 1, text.length);':
    SHORTCUT,
  'packages/rebac/src/graph.ts: this.#tuples.reserve(tuples);  →  (nothing)': ROOM,
  'packages/rebac/src/look-alikes.ts: if (ours !== -1 && theirs !== -1) classes.pairs.enter(ours, theirs, revision, verdict.id, exceptions);  →  if (ours !== -1 || theirs !== -1) classes.pairs.enter(ours, theirs, revision, verdict.id, exceptions);':
    'whoever asks for a pair looks for both classes first, and -1 is none',
  'packages/rebac/src/look-alikes.ts: if (set !== EMPTY && this.#edges.length === 2 * MAX_EDGES) return false;  →  if (set !== EMPTY && this.#edges.length === 2 * MAX_EDGES) return undefined;':
    ONLY_TRUE,
  'packages/rebac/src/line-reader.ts: if (this.object === 0 || !this.#skip(shape.between, this.#at)) return false;  →  if (this.object === 0 || !this.#skip(shape.between, this.#at)) return undefined;':
    ONLY_TRUE,
  'packages/rebac/src/line-reader.ts: if (this.object === 0 || !this.#skip(shape.between, this.#at)) return false;  →  if (!(this.object === 0 || !this.#skip(shape.between, this.#at))) return false;':
    SHORTCUT,
  'packages/rebac/src/line-reader.ts: if (object.number === 0 || subject.number === 0 || isOwn) return;  →  if (object.number === 1 || subject.number === 0 || isOwn) return;':
    'a shape says nothing of the ID of the object in the line that it was learned from',
  'packages/rebac/src/evidence.ts: if (of === undefined && theirs !== undefined) leads.push(this.#lead(edge, tupleset, other, theirs));  →  if (of === undefined || theirs !== undefined) leads.push(this.#lead(edge, tupleset, other, theirs));':
    'whoever follows a lead asks first whether its relation holds, and one that does not exist never does',
  'packages/rebac/src/engine.ts: validUser(graph.model, user);  →  (nothing)': SAME_WORDS,
  'packages/rebac/src/explanation.ts: validUser(graph.model, user);  →  (nothing)': SAME_WORDS,
  'packages/rebac/src/graph.ts: let conditional = 0;  →  let conditional = 1;': SHORTCUT,
  'packages/rebac/src/caller.ts: if (this.ownCount === OWN_EDGES) {  →  if (!(this.ownCount === OWN_EDGES)) {':
    SHORTCUT,
  'packages/rebac/src/caller.ts: if (this.ownCount === OWN_EDGES) {  →  if (this.ownCount !== OWN_EDGES) {': SHORTCUT,
  'packages/rebac/src/list-objects.ts: validUser(graph.model, question.user);  →  (nothing)': SAME_WORDS,
  'packages/rebac/src/tables/edges.ts: this.#index.reserve(edges, this.#hashOf);  →  (nothing)': ROOM,
  'packages/rebac/src/tables/edges.ts: if (set < 0) return false;  →  if (set < 0) return undefined;': ONLY_TRUE,
  'packages/rebac/src/caller.ts: #revision = -1;  →  #revision = -2;': 'no graph has a negative revision',
};
