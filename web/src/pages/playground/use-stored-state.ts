import { useCallback, useEffect, useRef, useState } from "react";
import { useSession } from "../../parts/session/use-session.ts";

const prefix = "sluice-draft:playground";
const writeDelayMs = 200;

type Kept<Value> = {
  /** Parses the stored value or `null`. Must always return a usable value. */
  parse(stored: unknown): Value;
  /** A smaller value to store if the whole exceeds the quota. */
  shorten?(value: Value): Value;
};

/**
 * State in session storage: it survives a reload or a new sign-in. Keyed by account, so another user does not see it.
 */
export function useStoredState<Value>(name: string, { parse, shorten }: Kept<Value>) {
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
    // Not written by us.
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
      // Storage is full: try a smaller value. If that fails too, the state lasts until the page is left.
    }
  }
}
