import { fromKysely, type Job, PgBoss } from "pg-boss";
import { invariant } from "../../lib/invariant.ts";
import type { Database, DatabaseAddress } from "../database/database.ts";

/**
 * Jobs that are sent with what makes them necessary: they exist if and only if the transaction commits, and a worker has
 * them within milliseconds. Each is handled at least once.
 */
export type JobQueue = {
  /** Connects. Fails when the database does; later it waits for the database however long it is away. */
  open(): Promise<void>;
  send(tx: Database, data: Readonly<Record<string, unknown>>): Promise<void>;
  /** Hands every job to the handler from now on, several at a time. A job whose handler fails is tried again. */
  work(handle: (jobs: readonly Record<string, unknown>[]) => Promise<void>): Promise<void>;
  close(): Promise<void>;
};

type JobQueueParts = {
  address: DatabaseAddress;
  name: string;
  /** Told of what keeps jobs from being handed out. */
  onTrouble(error: Error): void;
};

const hourSeconds = 3600;
/** Only where notifications are lost is a job found by looking for it. */
const lookEverySeconds = 2;
const lookWithNotificationsEverySeconds = 5;
const handledAtOnceMax = 100;

const settings = {
  schema: "pgboss",
  application_name: "sluice-queue",
  max: 3,
  connectionTimeoutMillis: 5000,
  useListenNotify: true,
  // The other instance of this process keeps schema and schedules.
  schedule: false,
  migrate: false,
  superviseIntervalSeconds: 15,
  monitorIntervalSeconds: 15,
  maintenanceIntervalSeconds: 60,
  flowIntervalSeconds: hourSeconds,
} as const;

/** Given with every job instead of to its queue, whose options would stay as the first version wrote them. */
const jobOptions = { expireInSeconds: 60, retryLimit: 5, retryDelay: 1, deleteAfterSeconds: 60 } as const;

export function createJobQueue({ address, name, onTrouble }: JobQueueParts): JobQueue {
  let opened: PgBoss | null = null;
  let isWorking = false;

  function getBoss(): PgBoss {
    invariant(opened !== null, `the queue ${name} is not open`);
    return opened;
  }

  return {
    async open() {
      const boss = new PgBoss({ ...settings, ...address });
      const report = (trouble: { message: string }): void =>
        onTrouble(trouble instanceof Error ? trouble : new Error(trouble.message, { cause: trouble }));
      boss.on("error", report);
      boss.on("warning", report);
      await boss.start();
      opened = boss;
      if ((await boss.getQueue(name)) === null) await boss.createQueue(name, { notify: true });
    },
    async send(tx, data) {
      await getBoss().insert(name, [{ data, ...jobOptions }], { db: fromKysely(tx) });
    },
    async work(handle) {
      isWorking = true;
      const options = {
        batchSize: handledAtOnceMax,
        burstWhenBatchFull: true,
        pollingIntervalSeconds: lookEverySeconds,
        notifyPollingIntervalSeconds: lookWithNotificationsEverySeconds,
      };
      await getBoss().work<Record<string, unknown>>(name, options, async (jobs: Job<Record<string, unknown>>[]) => {
        await handle(jobs.map(({ data }) => data));
      });
    },
    async close() {
      if (isWorking) await opened?.offWork(name);
      await opened?.stop({ graceful: false });
    },
  };
}
