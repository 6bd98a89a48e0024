import type { Behaviour } from "./behaviour.ts";
import type { FakeCall } from "./fake-call.ts";

/** Which calls are meant: those that agree in everything that is given. */
export type CallMatcher = Partial<Pick<FakeCall, "vendor" | "model" | "apiKey">> | ((call: FakeCall) => boolean);

export type ScriptBook = {
  /** The next calls that fit get these, in this order. */
  scriptFor(matcher: CallMatcher, ...behaviours: readonly Behaviour[]): void;
  /** From now on all calls that fit get this, unless something is scripted. */
  alwaysFor(matcher: CallMatcher, behaviour: Behaviour): void;
  /** What is scripted for this call, once; `null` when nothing is. */
  takeScripted(call: FakeCall): Behaviour | null;
  findStanding(call: FakeCall): Behaviour;
  /** How many scripted behaviours no call has taken yet. */
  leftCount(): number;
};

export function createScriptBook(): ScriptBook {
  const scripted: { matcher: CallMatcher; behaviour: Behaviour }[] = [];
  const standing: { matcher: CallMatcher; behaviour: Behaviour }[] = [];
  return {
    scriptFor(matcher, ...behaviours) {
      scripted.push(...behaviours.map((behaviour) => ({ matcher, behaviour })));
    },
    alwaysFor(matcher, behaviour) {
      // What was said last counts.
      standing.unshift({ matcher, behaviour });
    },
    takeScripted(call) {
      const at = scripted.findIndex(({ matcher }) => isMeant(call, matcher));
      return at === -1 ? null : (scripted.splice(at, 1)[0]?.behaviour ?? null);
    },
    findStanding: (call) => standing.find(({ matcher }) => isMeant(call, matcher))?.behaviour ?? {},
    leftCount: () => scripted.length,
  };
}

function isMeant(call: FakeCall, matcher: CallMatcher): boolean {
  if (typeof matcher === "function") return matcher(call);
  const { vendor = call.vendor, model = call.model, apiKey = call.apiKey } = matcher;
  return vendor === call.vendor && model === call.model && apiKey === call.apiKey;
}
