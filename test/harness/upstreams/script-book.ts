import type { Behaviour } from "./behaviour.ts";
import type { FakeCall } from "./fake-call.ts";

/** Matches calls that agree in every given field. */
export type CallMatcher = Partial<Pick<FakeCall, "vendor" | "model" | "apiKey">> | ((call: FakeCall) => boolean);

export type ScriptBook = {
  /** The next matching calls get these, in this order. */
  scriptFor(matcher: CallMatcher, ...behaviours: readonly Behaviour[]): void;
  /** From now on all matching calls get this, unless something is scripted. */
  alwaysFor(matcher: CallMatcher, behaviour: Behaviour): void;
  /** Takes the behaviour scripted for this call; `null` when there is none. */
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
      // The latest one counts.
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
