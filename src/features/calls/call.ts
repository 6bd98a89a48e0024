/**
 * The state machine of one paid call: a request that is answered while its caller waits, text or audio, streamed or whole.
 *
 * | state            | hold      | upstream           | what is true                                                  |
 * |------------------|-----------|--------------------|---------------------------------------------------------------|
 * | `received`       | none      | not called         | validated: model, price and targets exist                     |
 * | `admitted`       | none      | not called         | within the caller's limits; its idempotency key is claimed    |
 * | `reserving`      | opening   | not called         | the balance is close to the cost: the hold comes first        |
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
 * | `refused`        | refused   | cancelled          | final: the ledger refused the hold                            |
 * | `replayed`       | none      | not called         | final: the key's stored response was sent again               |
 * | `failed`         | unknown   | done               | final: the ledger did not confirm; the hold expires           |
 *
 * Why no path leaves a hold open:
 *
 * 1. Money can be on hold only in the states from `reserving` to `settling`.
 * 2. While the ledger opens or extends the hold, the call buffers the events that would end it, and the ledger's answer
 *    moves it on. In every other state, each event that ends a call moves it to `settling`.
 * 3. A move to `settling` has exactly one of the effects `settle` and `release`. Nothing else ends a hold, and `settling`
 *    ignores every event except the ledger's result.
 * 4. If an effect throws, the call gets the event `fault`, which 2 covers (`dispatch` in `run-call.ts`).
 * 5. If the process dies or the ledger does not confirm, the hold expires and the ledger's sweep releases it.
 *
 * `call.test.ts` checks 1 to 3 against the table, `call-faults.test.ts` checks 4 with callbacks that throw.
 */
export const callStates = [
  ...(["received", "admitted", "reserving", "withdrawn", "racing", "authorized", "accepted", "streaming"] as const),
  ...(["short", "abandoned", "draining", "draining-short", "settling"] as const),
  ...(["settled", "released", "refused", "replayed", "failed"] as const),
] as const;
export type CallState = (typeof callStates)[number];

export const callEvents = [
  /** Admission let the call in, or found its key's stored response. */
  ...(["admit", "replay"] as const),
  /** The call starts: hold first, or upstream and hold at the same time. */
  ...(["reserve", "race"] as const),
  /** The ledger opened the hold, or refused it. */
  ...(["authorize", "refuse"] as const),
  /** The upstream accepts, sends data, ends its stream, sends a whole response, or fails. */
  ...(["accept", "pieces", "end", "answer", "fail"] as const),
  /** The hold is used up and an extension pending; the hold covers the output; there is no more money. */
  ...(["run-short", "cover", "exhaust"] as const),
  /** The upstream wrote more than its output cap. */
  "overrun",
  /** The caller closed the connection. `leave`: the cost is known, stop the upstream. `forfeit`: charge the hold. */
  ...(["hang-up", "leave", "forfeit"] as const),
  /** The gateway shuts down. `hand-over`: another process runs the call again. */
  ...(["stop", "hand-over"] as const),
  /** The gateway's own code threw. */
  "fault",
  /** How the ledger ended the hold: charged, released, never opened, or not confirmed. */
  ...(["charged", "uncharged", "unheld", "lost"] as const),
] as const;
export type CallEvent = (typeof callEvents)[number];

/** The charge at the end of a call. */
export type ChargeRule =
  | "nothing"
  /** The usage, if the upstream reported any or wrote anything. */
  | "if-written"
  /** The usage: the upstream accepted, and the caller hung up or the gateway truncated the response. */
  | "always"
  /** The reported usage, or the whole hold without a report. */
  | "reported-or-hold";

/** The effects of a transition, performed in order by `run-call.ts`. */
export type CallEffect =
  /** Opens the hold now, or a moment later: so that the request leaves first, and a quick response needs one commit. */
  | "open-hold"
  | "open-hold-soon"
  /** Opens the hold if the response is streamed. A whole response is near, and can write hold and charge together. */
  | "open-hold-for-stream"
  | "send"
  /** Queues the event until the hold is open or extended. */
  | "buffer"
  /** Dispatches the queued events, in order. */
  | "flush"
  | "pause-upstream"
  | "cancel-upstream"
  /** Sends the head of a streamed response. */
  | "send-head"
  /** Counts the data and passes it to the caller. */
  | "deliver"
  /** Ends the caller's response early: out of money, or past the cap. */
  | "truncate"
  /** Decides between reading on, `leave` and `forfeit` for a caller who hung up. */
  | "decide-hang-up"
  /** Writes the charge by the transition's rule. */
  | "settle"
  /** Ends the hold without a charge; the caller gets the error. */
  | "release"
  /** Returns the caller's limits, records the end, settles `ended`. */
  | "finish";

export type Transition = { kind: "move"; to: CallState; charge: ChargeRule | null; effects: readonly CallEffect[] };
/** `ignore`: the event is expected and changes nothing. `impossible`: if it arrives, it is a bug and raises `fault`. */
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

/** Events that may arrive after the charge is decided: late upstream data, the closed socket, the hold's own result. */
const late: Cells = {
  ...{ authorize: "ignore", refuse: "ignore" },
  ...{ accept: "ignore", pieces: "ignore", end: "ignore", answer: "ignore", fail: "ignore" },
  ...{ "run-short": "ignore", cover: "ignore", exhaust: "ignore", overrun: "ignore" },
  ...{
    "hang-up": "ignore",
    leave: "ignore",
    forfeit: "ignore",
    stop: "ignore",
    "hand-over": "ignore",
    fault: "ignore",
  },
};

/** The caller has hung up: charge the reported usage, or the hold without a report. */
const drained: Cells = {
  end: charge("reported-or-hold"),
  answer: charge("reported-or-hold"),
  exhaust: charge("reported-or-hold", "cancel-upstream"),
  overrun: charge("reported-or-hold", "cancel-upstream"),
  leave: charge("always", "cancel-upstream"),
  forfeit: charge("reported-or-hold", "cancel-upstream"),
  stop: charge("reported-or-hold", "cancel-upstream"),
  "hand-over": charge("reported-or-hold", "cancel-upstream"),
  fault: charge("reported-or-hold", "cancel-upstream"),
  "hang-up": "ignore",
};

/** The caller receives the response. */
const served: Cells = {
  end: charge("if-written"),
  answer: charge("if-written"),
  exhaust: charge("always", "cancel-upstream", "truncate"),
  overrun: charge("always", "cancel-upstream", "truncate"),
  // The process that runs the call again charges for it.
  "hand-over": release("cancel-upstream"),
  fault: charge("reported-or-hold", "cancel-upstream"),
};

/** Upstream events are queued; only the caller and the gateway can end the call. */
const waiting = (state: CallState): Cells => ({
  pieces: to(state, "buffer"),
  end: to(state, "buffer"),
  fail: to(state, "buffer"),
  "run-short": "ignore",
});

const table: Readonly<Record<CallState, Row>> = {
  received: row({ admit: to("admitted"), replay: to("replayed") }),
  admitted: row({ reserve: to("reserving", "open-hold"), race: to("racing", "send", "open-hold-soon") }),
  reserving: row({
    authorize: to("authorized", "flush", "send"),
    refuse: release(),
    "hang-up": to("withdrawn"),
    stop: to("reserving", "buffer"),
    "hand-over": to("reserving", "buffer"),
    fault: to("reserving", "buffer"),
  }),
  withdrawn: row({
    authorize: charge("nothing"),
    refuse: release(),
    ...{ "hang-up": "ignore", stop: "ignore", "hand-over": "ignore", fault: "ignore" },
  }),
  // A whole response need not wait: the ledger writes hold and charge in order, and confirms after both.
  racing: row({
    authorize: to("authorized", "flush"),
    refuse: release("cancel-upstream"),
    answer: charge("if-written"),
    accept: to("racing", "buffer", "open-hold-for-stream"),
    pieces: to("racing", "pause-upstream", "buffer", "open-hold"),
    end: to("racing", "buffer", "open-hold"),
    fail: to("racing", "buffer", "open-hold"),
    "hang-up": to("racing", "buffer", "open-hold"),
    stop: to("racing", "buffer", "open-hold"),
    "hand-over": to("racing", "buffer", "open-hold"),
    fault: to("racing", "buffer", "open-hold"),
  }),
  authorized: row({
    ...served,
    accept: to("accepted", "send-head"),
    pieces: to("streaming", "deliver"),
    fail: release(),
    stop: release("cancel-upstream"),
    fault: release("cancel-upstream"),
    "hang-up": to("abandoned", "decide-hang-up"),
    ...{ exhaust: "impossible", overrun: "impossible" },
  }),
  accepted: row({
    ...served,
    pieces: to("streaming", "deliver"),
    fail: release(),
    stop: release("cancel-upstream"),
    "hang-up": to("draining", "decide-hang-up"),
    ...{ exhaust: "impossible", overrun: "impossible" },
  }),
  streaming: row({
    ...served,
    pieces: to("streaming", "deliver"),
    fail: charge("if-written"),
    stop: charge("if-written", "cancel-upstream"),
    "run-short": to("short", "pause-upstream"),
    cover: "ignore",
    "hang-up": to("draining", "decide-hang-up"),
  }),
  short: row({
    ...served,
    ...waiting("short"),
    stop: charge("if-written", "cancel-upstream"),
    cover: to("streaming", "flush"),
    "hang-up": to("draining-short", "decide-hang-up"),
    answer: "impossible",
  }),
  // The upstream may still reject, and a rejection is free also after a hang-up.
  abandoned: row({
    accept: to("draining", "decide-hang-up"),
    pieces: to("draining", "deliver", "decide-hang-up"),
    end: charge("reported-or-hold"),
    answer: charge("reported-or-hold"),
    fail: release(),
    stop: release("cancel-upstream"),
    "hand-over": release("cancel-upstream"),
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
    cover: to("draining", "flush"),
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

export function decideTransition(state: CallState, event: CallEvent): Cell {
  return table[state][event];
}

/** The caller closed the connection. */
export function hasHungUp(state: CallState): boolean {
  return state === "withdrawn" || state === "abandoned" || state === "draining" || state === "draining-short";
}

/** Upstream events are queued until the hold is open or extended. */
export function isBuffering(state: CallState): boolean {
  return state === "racing" || state === "short" || state === "draining-short";
}

/**
 * Decides how to end the upstream after a hang-up, so that hanging up never costs less than listening. Before the upstream
 * accepts, nothing can be charged. After that, stop an upstream of known cost. Read any other to its end if the account has
 * a drain place left; if not, charge the hold.
 */
export function decideHangUp({
  hasVerdict,
  isCostKnown,
  hasDrainPlace,
}: {
  /** The upstream has accepted. */
  hasVerdict: boolean;
  /** The cost is known without reading on, or will be when the upstream accepts. */
  isCostKnown: boolean;
  /** Takes a place among the account's drained calls. */
  hasDrainPlace(): boolean;
}): "read-on" | "leave" | "forfeit" {
  if (isCostKnown) return hasVerdict ? "leave" : "read-on";
  return hasDrainPlace() ? "read-on" : "forfeit";
}
