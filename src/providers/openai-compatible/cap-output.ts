import { createTokenMeter } from "../../lib/token-meter.ts";
import type { ChatUsage } from "../contract.ts";
import type { Outlet } from "./outlet.ts";

/** Ends an answer at the cap, for upstreams that cannot be told one: by our own count, which no vendor shares exactly. */
export function capOutput(outlet: Outlet, outputTokensMax: number): Outlet {
  const unfinished = new Set<number>();
  const meter = createTokenMeter();
  let usage: ChatUsage | null = null;
  return {
    isOpen: () => outlet.isOpen(),
    push(piece) {
      if (!outlet.isOpen() || meter.tokens() > outputTokensMax) return;
      outlet.push(piece);
      meter.add(piece.text);
      usage = piece.usage ?? usage;
      for (const { index, finish_reason: reason } of JSON.parse(piece.choices)) {
        if (reason === null) unfinished.add(index);
        else unfinished.delete(index);
      }
      if (meter.tokens() <= outputTokensMax) return;
      for (const index of unfinished) {
        outlet.push({ choices: JSON.stringify([{ index, delta: {}, finish_reason: "length" }]), text: "" });
      }
      outlet.end(usage, "cut-off");
    },
    end: (reported, rest) => outlet.end(reported, rest),
    answer: (answer, rest) => outlet.answer(answer, rest),
    fail: (error) => outlet.fail(error),
    shut: () => outlet.shut(),
  };
}
