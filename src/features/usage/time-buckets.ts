/** Bucket boundaries, including `from` and `to`: each two neighbours are a bucket. */
export function cutTime(unit: "day" | "hour", { from, to, timeZone }: CutTime): Date[] {
  const boundaries = [from];
  const findNext = unit === "day" ? findNextDay : findNextHour;
  for (let next = findNext(from, timeZone); next < to; next = findNext(next, timeZone)) boundaries.push(next);
  return [...boundaries, to];
}

type CutTime = { from: Date; to: Date; timeZone: string };

/** Not always midnight: some zones skip it, or skip a whole day, which then begins with the next one. */
export function findDayStart(day: Temporal.PlainDate, timeZone: string): Date {
  return new Date(day.toZonedDateTime(timeZone).epochMilliseconds);
}

export function findDay(moment: Date, timeZone: string): Temporal.PlainDate {
  return toLocal(moment, timeZone).toPlainDate();
}

function findNextDay(moment: Date, timeZone: string): Date {
  let day = findDay(moment, timeZone);
  // A loop, because a skipped day begins no later than its predecessor ends, and some clocks went back over a midnight.
  for (;;) {
    day = day.add({ days: 1 });
    const start = findDayStart(day, timeZone);
    if (start > moment) return start;
  }
}

/** A clock change within an hour splits it, so no bucket is longer than an hour. */
function findNextHour(moment: Date, timeZone: string): Date {
  const local = toLocal(moment, timeZone);
  const next = local.add({ hours: 1 }).subtract({
    minutes: local.minute,
    seconds: local.second,
    milliseconds: local.millisecond,
  });
  const change = next.offsetNanoseconds === local.offsetNanoseconds ? null : local.getTimeZoneTransition("next");
  const isEarlier = change !== null && change.epochMilliseconds < next.epochMilliseconds;
  return new Date(isEarlier ? change.epochMilliseconds : next.epochMilliseconds);
}

function toLocal(moment: Date, timeZone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(moment.getTime()).toZonedDateTimeISO(timeZone);
}
