import type { Clock } from "../../lib/clock.ts";
import { type Database, inTransaction } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { type Alarm, type AlarmEvent, findStep } from "./alarm.ts";
import { insertAlarmEvent, lockAlarm, updateAlarm } from "./alarm-store.ts";

type Changing = { database: Database; clock: Clock };
type By = { actor: string; note: string | null };

const silenceMsMax = 90 * 24 * 60 * 60_000;
const noteCharactersMax = 500;

/** An operator takes care of it. It is not reported again unless it ends and comes back. */
export async function acknowledgeAlarm(changing: Changing, id: string, by: By): Promise<Alarm> {
  return await change(changing, id, { event: "acknowledge", until: null, ...by });
}

/** Nothing is reported until then. If the rule is still met, the alarm fires again. */
export async function silenceAlarm(
  changing: Changing,
  id: string,
  { until, ...by }: By & { until: Date },
): Promise<Alarm> {
  const leftMs = until.getTime() - changing.clock.now().getTime();
  if (leftMs <= 0 || leftMs > silenceMsMax) {
    throw new AppError("invalid_parameter", "A silence must end in the future, within 90 days.", { param: "until" });
  }
  return await change(changing, id, { event: "silence", until, ...by });
}

async function change(
  { database, clock }: Changing,
  id: string,
  { event, until, actor, note }: By & { event: AlarmEvent; until: Date | null },
): Promise<Alarm> {
  if (note !== null && (note.length > noteCharactersMax || /[^\P{Cc}\n]/u.test(note))) {
    throw new AppError("invalid_parameter", `A note has at most ${noteCharactersMax} characters.`, { param: "note" });
  }
  return await inTransaction(database, async (tx) => {
    const alarm = await lockAlarm(tx, id);
    if (alarm === null || alarm.state === "pending") {
      throw new AppError("not_found", `There is no alarm ${id}.`, { param: "alarm" });
    }
    const step = findStep(alarm.state, event);
    if (step === "impossible") {
      throw new AppError("already_ended", "The alarm is already resolved.", { param: "alarm" });
    }
    if (step === "ignore") return alarm;
    // Operators' events lead from one open state to another.
    const changed = { ...alarm, state: step.to === "ok" ? alarm.state : step.to, silencedUntil: until };
    await updateAlarm(tx, changed);
    await insertAlarmEvent(tx, alarm.id, { kind: event, state: changed.state, actor, note, createdAt: clock.now() });
    return changed;
  });
}
