import { presentMoney } from "../../lib/money.ts";
import { type Claim, freeKey, type KeptAnswer, keepAnswer, keptBytesMax, lockClaim } from "../idempotency/index.ts";
import { releaseHold, settleHold } from "../ledger/index.ts";
import type { ChatParts } from "./complete-chat.ts";
import type { Settlement } from "./pay-chat.ts";
import type { ChatEnd, ConcludeChat } from "./run-chat.ts";

type PresentKept = (
  end: Omit<ChatEnd, "settlement">,
  settlement: Settlement,
) => { contentType: string; body: string | null };

/** Ends a call with a key: its charge and its answer become durable together, or neither does. */
export function createKeptConclusion(
  { database, clock }: Pick<ChatParts, "database" | "clock">,
  claim: Claim,
  { completionId, present }: { completionId: string; present: PresentKept },
): ConcludeChat {
  return (payment, usage, end) =>
    database.transaction().execute(async (tx) => {
      const now = clock.now();
      await lockClaim(tx, claim);
      const settlement = await payment.settle(usage, (operation) =>
        operation.kind === "settle" ? settleHold(tx, operation, now) : releaseHold(tx, operation, now),
      );
      if (end === null) await freeKey(tx, claim);
      else await keepAnswer(tx, claim, describeAnswer(end, settlement, { completionId, present }));
      return settlement;
    });
}

function describeAnswer(
  end: Omit<ChatEnd, "settlement">,
  settlement: Settlement,
  { completionId, present }: { completionId: string; present: PresentKept },
): KeptAnswer {
  const { contentType, body } = present(end, settlement);
  const bytes = body === null ? null : Buffer.from(body);
  const { inputTokens, outputTokens } = end.usage;
  return {
    status: 200,
    contentType,
    body: bytes !== null && bytes.length <= keptBytesMax ? bytes : null,
    summary: `Its id is ${completionId}; it had ${inputTokens} prompt tokens and ${outputTokens} completion tokens and cost ${presentMoney(settlement.charge)}.`,
  };
}

/** Collects the events of a stream for a later replay, as long as they are few enough to be kept. */
export type Recorder = {
  add(text: string): void;
  /** Everything so far, `null` when it is too much. */
  join(): string | null;
};

export function createRecorder(): Recorder {
  let events: string[] | null = [];
  let length = 0;
  return {
    add(text) {
      length += text.length;
      if (length > keptBytesMax) events = null;
      else events?.push(text);
    },
    join: () => events?.join("") ?? null,
  };
}
