const sequencePattern = /"sequence_number":\s*(\d+)/;
/** The first number of each event: JSON strings cannot contain an unescaped quote. */
const dataPattern = /^(data:.*?"sequence_number":\s*)(\d+)/gm;

/** The events of a running response, for current and later readers. */
export type EventLog = {
  add(events: string): void;
  /** Adds the last events. */
  end(events: string): void;
  /** All events so far, and `tail` if they end with it. */
  text(tail?: string): string;
  /** Writes all events with greater sequence numbers, past and future. Resolves after the last. */
  follow(startingAfter: number, write: (events: string) => void): Promise<void>;
};

/** `firstNumber` is added to the sequence numbers of all events. */
export function createEventLog(firstNumber: number): EventLog {
  const parts: string[] = [];
  const readers = new Set<(events: string) => void>();
  const { promise: ended, resolve } = Promise.withResolvers<void>();

  function add(events: string): void {
    if (events === "") return;
    const numbered = addToNumbers(events, firstNumber);
    parts.push(numbered);
    for (const read of readers) read(numbered);
  }

  return {
    add,
    end(events) {
      add(events);
      readers.clear();
      resolve();
    },
    text: (tail = "") => parts.join("") + addToNumbers(tail, firstNumber),
    async follow(startingAfter, write) {
      const read = (events: string): void => write(skipEvents(events, startingAfter));
      read(parts.join(""));
      readers.add(read);
      await ended;
    },
  };
}

function addToNumbers(events: string, delta: number): string {
  if (delta === 0) return events;
  return events.replace(dataPattern, (_match, head: string, number: string) => head + (Number(number) + delta));
}

/** The events with greater sequence numbers. */
export function skipEvents(events: string, startingAfter: number): string {
  if (startingAfter < 0) return events;
  return events
    .split("\n\n")
    .filter((event) => event !== "" && Number(sequencePattern.exec(event)?.[1] ?? -1) > startingAfter)
    .map((event) => `${event}\n\n`)
    .join("");
}

/** The sequence number of the last event; -1 if there is none. */
export function findLastNumber(events: string): number {
  const last = events.split("\n\n").findLast((event) => event !== "");
  return Number(sequencePattern.exec(last ?? "")?.[1] ?? -1);
}
