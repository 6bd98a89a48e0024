import type { KeptMail } from "../../platform/mail/mail-outbox.ts";
import type { CollectedMetric } from "../../platform/observability/metrics.ts";
import type { Welcome } from "../start-gateway.ts";

/** From the supervisor to a process. */
export type SupervisorMessage =
  | { kind: "begin"; group: string; processes: number; mails: readonly KeptMail[] }
  /** `alone`: other processes on the port continue. */
  | { kind: "stop"; delayMs: number; alone: boolean }
  /** Close this many connections after their next response, to rebalance. */
  | { kind: "shed"; connections: number }
  | { kind: "mails"; mails: readonly KeptMail[] }
  /** Takes over once-per-gateway work. */
  | { kind: "lead" }
  | { kind: "collect"; number: number };

/** From a process to its supervisor. */
export type ProcessMessage =
  | { kind: "ready"; welcome: Welcome }
  | { kind: "connections"; count: number }
  | { kind: "collected"; number: number; metrics: readonly CollectedMetric[] }
  | { kind: "mail"; mail: Omit<KeptMail, "id"> };
