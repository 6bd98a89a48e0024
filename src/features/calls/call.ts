/**
 * One paid call: any request that is answered while its caller waits, text or audio, streamed or whole.
 *
 * | state            | hold      | upstream           | what is true                                                  |
 * |------------------|-----------|--------------------|---------------------------------------------------------------|
 * | `received`       | none      | not called         | validated: model, price and targets exist                     |
 * | `admitted`       | none      | not called         | within the caller's limits, its key claimed                   |
 * | `reserving`      | opening   | not called         | the hold comes first: the balance is near what the call costs |
 * | `withdrawn`      | opening   | not called         | the caller hung up before anything was sent                   |
 * | `racing`         | opening   | called             | optimistic start: upstream events wait for the hold           |
 * | `authorized`     | open      | called             | the upstream has neither accepted nor rejected                |
 * | `accepted`       | open      | answering          | accepted, no data yet                                         |
 * | `streaming`      | open      | answering          | data goes to the caller                                       |
 * | `short`          | extending | paused             | the hold is used up; upstream events wait for the extension   |
 * | `abandoned`      | open      | called             | the caller hung up; the upstream's verdict is pending         |
 * | `draining`       | open      | answering          | the caller hung up; the upstream is read for its usage        |
 * | `draining-short` | extending | paused             | as `draining`, waiting for an extension                       |
 * | `settling`       | ending    | done or cancelled  | the charge is decided and being written                       |
 * | `settled`        | settled   | done               | final: charged                                                |
 * | `released`       | released  | done               | final: not charged                                            |
 * | `refused`        | refused   | cancelled          | final: the hold was refused                                   |
 * | `replayed`       | none      | not called         | final: answered from what the key's first call was answered   |
 * | `failed`         | unknown   | done               | final: the ledger did not confirm; the hold ends by itself    |
 *
 * A hold is open in every state from `reserving` to `settling`, and each of these states has a way to `settling` for every
 * way that a call can end. `settling` ends with the ledger's result, and only there is a hold settled or released.
 */
export const callStates = [
  ...(["received", "admitted", "reserving", "withdrawn", "racing", "authorized", "accepted", "streaming"] as const),
  ...(["short", "abandoned", "draining", "draining-short", "settling"] as const),
  ...(["settled", "released", "refused", "replayed", "failed"] as const),
] as const;
export type CallState = (typeof callStates)[number];

export const callEvents = [
  /** Admission let the call in, or found what its key was answered before. */
  ...(["admit", "replay"] as const),
  /** The call starts: hold first, or upstream and hold at the same time. */
  ...(["reserve", "race"] as const),
  /** The ledger wrote the hold, or did not. */
  ...(["authorize", "refuse"] as const),
  /** The upstream accepts, sends data, ends its stream, sends a whole answer, or fails. */
  ...(["accept", "pieces", "end", "answer", "fail"] as const),
  /** The hold is used up while an extension is pending; the extension arrived; there is no more money. */
  ...(["run-short", "cover", "exhaust"] as const),
  /** The upstream wrote more than the cap that it was given. */
  "overrun",
  /** The caller hung up. `leave`: the cost is known, stop the upstream. `forfeit`: only the hold is known. */
  ...(["hang-up", "leave", "forfeit"] as const),
  /** The gateway shuts down. */
  "stop",
  /** Code of the gateway threw. */
  "fault",
  /** How the end of the hold was written: with a charge, without one, because there was no hold, or not at all. */
  ...(["charged", "uncharged", "unheld", "lost"] as const),
] as const;
export type CallEvent = (typeof callEvents)[number];

/** What is charged at the end of a call. */
export type ChargeRule =
  | "nothing"
  /** The usage, if the upstream reported any or wrote anything. */
  | "if-written"
  /** The usage: the upstream accepted, and the caller hung up or the gateway cut the answer short. */
  | "always"
  /** What the upstream reported; without a report, the whole hold. */
  | "reported-or-hold";

/** What a transition does, in this order. `run-call.ts` performs them. */
export type CallEffect =
  /** Opens the hold now, or after the request had a moment to leave. */
  | "open-hold"
  | "open-hold-soon"
  /** The same for a stream. A whole answer is near, and its hold can be written together with its charge. */
  | "open-hold-for-stream"
  | "send"
  /** Keeps an upstream event until the hold is open or extended. */
  | "hold-back"
  /** Takes the events that were held back, in order. */
  | "go-on"
  | "pause-upstream"
  | "cancel-upstream"
  /** Sends the head of a streamed answer. */
  | "announce"
  /** Counts the data and passes it to the caller. */
  | "deliver"
  /** Ends the caller's answer early: no money, or the cap was passed. */
  | "cut-short"
  /** Decides between reading on, `leave` and `forfeit` for a caller who hung up. */
  | "judge-hang-up"
  /** Writes the charge that the transition names. */
  | "settle"
  /** Ends the hold without a charge; the caller gets the error. */
  | "release"
  /** Returns the caller's limits, records the end, resolves `ended`. */
  | "finish";

export type Transition = { kind: "move"; to: CallState; charge: ChargeRule | null; effects: readonly CallEffect[] };
/** `ignore`: the event may come and changes nothing. `impossible`: it cannot come; if it does, our code is wrong. */
export type Cell = Transition | "ignore" | "impossible";

const to = (state: CallState, ...effects: readonly CallEffect[]): Transition => ({
  ...{ kind: "move", to: state, charge: null, effects },
});
const charge = (rule: ChargeRule, ...effects: readonly CallEffect[]): Transition => ({
  ...{ kind: "move", to: "settling", charge: rule, effects: [...effects, "settle"] },
});
const release = (...effects: readonly CallEffect[]): Transition => to("settling", ...effects, "release");

type Cells = Readonly<Partial<Record<CallEvent, Cell>>>;
type Row = Readonly<Record<CallEvent, Cell>>;

const allImpossible = Object.fromEntries(callEvents.map((event) => [event, "impossible"])) as Row;
const row = (cells: Cells): Row => ({ ...allImpossible, ...cells });

/** What may still arrive once the charge is decided: late upstream data, the closed socket, the hold's own result. */
const late: Cells = {
  ...{ authorize: "ignore", refuse: "ignore" },
  ...{ accept: "ignore", pieces: "ignore", end: "ignore", answer: "ignore", fail: "ignore" },
  ...{ "run-short": "ignore", cover: "ignore", exhaust: "ignore", overrun: "ignore" },
  ...{ "hang-up": "ignore", leave: "ignore", forfeit: "ignore", stop: "ignore", fault: "ignore" },
};

/** The caller left: reported usage is due, and the hold where none comes. */
const drained: Cells = {
  end: charge("reported-or-hold"),
  answer: charge("reported-or-hold"),
  exhaust: charge("reported-or-hold", "cancel-upstream"),
  overrun: charge("reported-or-hold", "cancel-upstream"),
  leave: charge("always", "cancel-upstream"),
  forfeit: charge("reported-or-hold", "cancel-upstream"),
  stop: charge("reported-or-hold", "cancel-upstream"),
  fault: charge("reported-or-hold", "cancel-upstream"),
  "hang-up": "ignore",
};

/** The answer goes to its caller. */
const served: Cells = {
  end: charge("if-written"),
  answer: charge("if-written"),
  exhaust: charge("always", "cancel-upstream", "cut-short"),
  overrun: charge("always", "cancel-upstream", "cut-short"),
  fault: charge("reported-or-hold", "cancel-upstream"),
};

/** Upstream events wait; only the caller and the gateway can end the call. */
const waiting = (state: CallState): Cells => ({
  pieces: to(state, "hold-back"),
  end: to(state, "hold-back"),
  fail: to(state, "hold-back"),
  "run-short": "ignore",
});

const table: Readonly<Record<CallState, Row>> = {
  received: row({ admit: to("admitted"), replay: to("replayed") }),
  admitted: row({ reserve: to("reserving", "open-hold"), race: to("racing", "send", "open-hold-soon") }),
  reserving: row({
    authorize: to("authorized", "go-on", "send"),
    refuse: release(),
    "hang-up": to("withdrawn"),
    stop: to("reserving", "hold-back"),
    fault: to("reserving", "hold-back"),
  }),
  withdrawn: row({
    authorize: charge("nothing"),
    refuse: release(),
    ...{ "hang-up": "ignore", stop: "ignore", fault: "ignore" },
  }),
  // A whole answer need not wait: the ledger writes hold and charge in order, and answers after both.
  racing: row({
    authorize: to("authorized", "go-on"),
    refuse: release("cancel-upstream"),
    answer: charge("if-written"),
    accept: to("racing", "hold-back", "open-hold-for-stream"),
    pieces: to("racing", "pause-upstream", "hold-back", "open-hold"),
    end: to("racing", "hold-back", "open-hold"),
    fail: to("racing", "hold-back", "open-hold"),
    "hang-up": to("racing", "hold-back", "open-hold"),
    stop: to("racing", "hold-back", "open-hold"),
    fault: to("racing", "hold-back", "open-hold"),
  }),
  authorized: row({
    ...served,
    accept: to("accepted", "announce"),
    pieces: to("streaming", "deliver"),
    fail: release(),
    stop: release("cancel-upstream"),
    fault: release("cancel-upstream"),
    "hang-up": to("abandoned", "judge-hang-up"),
    ...{ exhaust: "impossible", overrun: "impossible" },
  }),
  accepted: row({
    ...served,
    pieces: to("streaming", "deliver"),
    fail: release(),
    stop: release("cancel-upstream"),
    "hang-up": to("draining", "judge-hang-up"),
    ...{ exhaust: "impossible", overrun: "impossible" },
  }),
  streaming: row({
    ...served,
    pieces: to("streaming", "deliver"),
    fail: charge("if-written"),
    stop: charge("if-written", "cancel-upstream"),
    "run-short": to("short", "pause-upstream"),
    cover: "ignore",
    "hang-up": to("draining", "judge-hang-up"),
  }),
  short: row({
    ...served,
    ...waiting("short"),
    stop: charge("if-written", "cancel-upstream"),
    cover: to("streaming", "go-on"),
    "hang-up": to("draining-short", "judge-hang-up"),
    answer: "impossible",
  }),
  // Nothing is charged while the upstream may still reject, so a rejection stays free for a caller who left.
  abandoned: row({
    accept: to("draining", "judge-hang-up"),
    pieces: to("draining", "deliver", "judge-hang-up"),
    end: charge("reported-or-hold"),
    answer: charge("reported-or-hold"),
    fail: release(),
    stop: release("cancel-upstream"),
    fault: release("cancel-upstream"),
    forfeit: charge("reported-or-hold", "cancel-upstream"),
    "hang-up": "ignore",
  }),
  draining: row({
    ...drained,
    pieces: to("draining", "deliver"),
    fail: charge("reported-or-hold"),
    "run-short": to("draining-short", "pause-upstream"),
    cover: "ignore",
  }),
  "draining-short": row({
    ...drained,
    ...waiting("draining-short"),
    cover: to("draining", "go-on"),
    answer: "impossible",
  }),
  settling: row({
    ...late,
    charged: to("settled", "finish"),
    uncharged: to("released", "finish"),
    unheld: to("refused", "finish"),
    lost: to("failed", "finish"),
  }),
  settled: row(late),
  released: row(late),
  refused: row(late),
  replayed: row(late),
  failed: row(late),
};

/** The table's cell for an event in a state. */
export function decideTransition(state: CallState, event: CallEvent): Cell {
  return table[state][event];
}

/** The caller closed the connection. */
export function hasHungUp(state: CallState): boolean {
  return state === "withdrawn" || state === "abandoned" || state === "draining" || state === "draining-short";
}

/** Upstream events are held back until the hold is open or extended. */
export function isHoldingBack(state: CallState): boolean {
  return state === "racing" || state === "short" || state === "draining-short";
}

/**
 * Decides what becomes of an upstream whose caller hung up, so that hanging up never costs less than listening. Before the
 * verdict nothing can be charged. After it, an upstream of known cost is stopped; any other is read to its end, if the
 * account has a drain place left, and forfeits the hold if not.
 */
export function decideHangUp({
  hasVerdict,
  isCostKnown,
  hasDrainPlace,
}: {
  /** The upstream has accepted. */
  hasVerdict: boolean;
  /** What the upstream has cost is known without reading on, or will be when it accepts. */
  isCostKnown: boolean;
  /** Takes a place among the account's drained calls. */
  hasDrainPlace(): boolean;
}): "read-on" | "leave" | "forfeit" {
  if (isCostKnown) return hasVerdict ? "leave" : "read-on";
  return hasDrainPlace() ? "read-on" : "forfeit";
}
