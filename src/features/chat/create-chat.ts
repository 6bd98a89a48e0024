import type { Clock } from "../../lib/clock.ts";
import type { IdSource } from "../../lib/ids.ts";
import { presentMoney } from "../../lib/money.ts";
import { createRoster } from "../../lib/roster.ts";
import type { Counters } from "../../platform/counters/counters.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { createHeartbeats } from "../../platform/http/event-stream.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import type { ProviderRegistry } from "../../providers/provider-registry.ts";
import type { UpstreamHealth } from "../../providers/upstream-health.ts";
import type { LiveCatalog } from "../catalog/index.ts";
import { type Ledger, releaseHold } from "../ledger/index.ts";
import type { DrainedCalls } from "../limits/index.ts";
import { askChat, type ChatQuestion, type ChatReply } from "./ask-chat.ts";
import { addChatRoutes } from "./chat-routes.ts";
import { createTargetTable } from "./chat-target.ts";
import type { ChatParts } from "./complete-chat.ts";
import { createPendingHolds } from "./pending-holds.ts";
import type { RunningChat } from "./run-chat.ts";

export type Chat = {
  addRoutes(http: HttpServer): void;
  /** Asks a model for the gateway itself; nobody is charged for it here. */
  ask(question: ChatQuestion, signal: AbortSignal): Promise<ChatReply>;
  /** Stops every call that still runs, and ends when all of them are settled. */
  close(): Promise<void>;
};

type ChatMakings = {
  database: Database;
  catalog: LiveCatalog;
  ledger: Ledger;
  counters: Counters;
  registry: ProviderRegistry;
  health: UpstreamHealth;
  clock: Clock;
  ids: IdSource;
  random(): number;
  drainedCalls: DrainedCalls;
  logger: Logger;
  settings: { currency: string; idempotency_hours: number; stream_heartbeat_ms: number };
};

const hourMs = 60 * 60 * 1000;

function createStopError(): AppError {
  return new AppError("shutting_down", "The gateway stopped before the answer was complete.");
}

export function createChat(makings: ChatMakings): Chat {
  const { clock, logger, settings } = makings;
  const heartbeats = createHeartbeats(settings.stream_heartbeat_ms);
  const running = createRoster<RunningChat>();
  const pending = createPendingHolds();
  const parts: ChatParts = {
    ...makings,
    running,
    pending,
    currency: settings.currency,
    listTargets: createTargetTable(makings.registry),
    claims: {
      validityMs: settings.idempotency_hours * hourMs,
      releaseHold: async (tx, hold) => void (await releaseHold(tx, hold, clock.now())),
    },
    onFailedAttempt({ providerId, upstreamModel, keyNumber }, error) {
      logger.warn(
        { provider: providerId, upstream_model: upstreamModel, key_number: keyNumber, error },
        "upstream failed",
      );
    },
    onLoss(target, { usage, lost }) {
      logger.error(
        {
          provider: target?.providerId,
          upstream_model: target?.upstreamModel,
          input_tokens: usage.inputTokens,
          output_tokens: usage.outputTokens,
          lost: presentMoney(lost),
        },
        "an upstream used more than it was allowed, and the balance did not cover it",
      );
    },
    onHungUp: (fields) => logger.info(fields, "a call was settled after its caller hung up"),
    onTrouble: (error) => logger.warn({ error }, "a limit could not be corrected"),
  };
  return {
    addRoutes: (http) => addChatRoutes(http, { ...parts, heartbeats }),
    ask: (question, signal) => askChat(parts, question, signal),
    async close() {
      heartbeats.close();
      // A call that was being admitted meanwhile is stopped in the next round.
      for (let calls = running.list(); calls.length > 0; calls = running.list()) {
        for (const call of calls) call.stop(createStopError());
        await Promise.allSettled(calls.map(({ ended }) => ended));
        await Promise.resolve();
      }
    },
  };
}
