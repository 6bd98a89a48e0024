const sequencePattern = /"sequence_number":\s*(\d+)/;

/** The events of a response that is being made, for those who read them now and those who come later. */
export type EventLog = {
  add(events: string): void;
  /** Adds the last events, after which none comes. */
  end(events: string): void;
  text(): string;
  /** Has all events with greater numbers written, those of now and those to come; ends when there are no more. */
  follow(startingAfter: number, write: (events: string) => void): Promise<void>;
};

export function createEventLog(): EventLog {
  const parts: string[] = [];
  const readers = new Set<(events: string) => void>();
  const { promise: ended, resolve } = Promise.withResolvers<void>();

  function add(events: string): void {
    if (events === "") return;
    parts.push(events);
    for (const read of readers) read(events);
  }

  return {
    add,
    end(events) {
      add(events);
      readers.clear();
      resolve();
    },
    text: () => parts.join(""),
    async follow(startingAfter, write) {
      const read = (events: string): void => write(skipEvents(events, startingAfter));
      read(parts.join(""));
      readers.add(read);
      await ended;
    },
  };
}

/** The events whose numbers are greater. */
export function skipEvents(events: string, startingAfter: number): string {
  if (startingAfter < 0) return events;
  return events
    .split("\n\n")
    .filter((event) => event !== "" && Number(sequencePattern.exec(event)?.[1] ?? -1) > startingAfter)
    .map((event) => `${event}\n\n`)
    .join("");
}

/** The number of the last event; -1 where there is none. */
export function findLastNumber(events: string): number {
  const last = events.split("\n\n").findLast((event) => event !== "");
  return Number(sequencePattern.exec(last ?? "")?.[1] ?? -1);
}
