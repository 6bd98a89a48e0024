import type { KeptMail } from "../../platform/mail/mail-outbox.ts";
import type { CollectedMetric } from "../../platform/observability/metrics.ts";
import type { Welcome } from "../start-gateway.ts";

/** What the supervisor tells a process of its gateway. */
export type SupervisorMessage =
  | { kind: "begin"; group: string; processes: number; mails: readonly KeptMail[] }
  /** `alone` says whether the others on its port go on, and so does the gateway. */
  | { kind: "stop"; delayMs: number; alone: boolean }
  /** So many of its connections are to end after their next answer, and to come again to whoever is less busy. */
  | { kind: "shed"; connections: number }
  | { kind: "mails"; mails: readonly KeptMail[] }
  /** From now on it does what one process of a gateway alone must do. */
  | { kind: "lead" }
  | { kind: "collect"; number: number };

/** What a process tells its supervisor. */
export type ProcessMessage =
  | { kind: "ready"; welcome: Welcome }
  | { kind: "connections"; count: number }
  | { kind: "collected"; number: number; metrics: readonly CollectedMetric[] }
  | { kind: "mail"; mail: Omit<KeptMail, "id"> };
