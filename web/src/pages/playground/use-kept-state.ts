import { useCallback, useEffect, useRef, useState } from "react";
import { useSession } from "../../parts/session/use-session.ts";

const prefix = "sluice-draft:playground";
const writeDelayMs = 200;

type Kept<Value> = {
  /** What is in the browser's storage, or `null`: a value that can be used, whatever was stored. */
  parse(stored: unknown): Value;
  /** What to keep where the whole does not fit. */
  shorten?(value: Value): Value;
};

/**
 * State that outlives the page in this window: a reload, or a session that ended. Each account has its own, so that
 * whoever signs in next sees nothing of it.
 */
export function useKeptState<Value>(name: string, { parse, shorten }: Kept<Value>) {
  const key = `${prefix}:${useSession().account.id}:${name}`;
  const [value, setValue] = useState(() => parse(readStored(key)));
  const unwritten = useRef<Value | null>(null);
  const write = useCallback(() => {
    if (unwritten.current === null) return;
    writeStored(key, unwritten.current, shorten);
    unwritten.current = null;
  }, [key, shorten]);
  const change = useCallback((next: Value | ((last: Value) => Value)) => setValue(next), []);
  useEffect(() => {
    unwritten.current = value;
    const timer = setTimeout(write, writeDelayMs);
    return () => clearTimeout(timer);
  }, [value, write]);
  useEffect(() => {
    window.addEventListener("pagehide", write);
    return () => {
      window.removeEventListener("pagehide", write);
      write();
    };
  }, [write]);
  return [value, change] as const;
}

function readStored(key: string): unknown {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? "null");
  } catch {
    // Whatever it is, it is not ours.
    return null;
  }
}

function writeStored<Value>(key: string, value: Value, shorten: ((value: Value) => Value) | undefined): void {
  for (const each of [value, shorten?.(value)]) {
    if (each === undefined) continue;
    try {
      sessionStorage.setItem(key, JSON.stringify(each));
      return;
    } catch {
      // The storage is full: less may fit. Where nothing does, the page still works, as long as it stays.
    }
  }
}
