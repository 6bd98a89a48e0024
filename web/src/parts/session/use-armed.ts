import { useEffect, useState } from "react";

/**
 * True once the page was visible and focused for the given time without a break. Prevents clickjacking: a click meant
 * for something else cannot hit a button that just appeared.
 */
export function useArmed(delayMs: number): boolean {
  const [isArmed, setArmed] = useState(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const start = () => {
      clearTimeout(timer);
      setArmed(false);
      if (document.visibilityState === "visible" && document.hasFocus()) {
        timer = setTimeout(() => setArmed(true), delayMs);
      }
    };
    start();
    window.addEventListener("focus", start);
    window.addEventListener("blur", start);
    document.addEventListener("visibilitychange", start);
    return () => {
      clearTimeout(timer);
      window.removeEventListener("focus", start);
      window.removeEventListener("blur", start);
      document.removeEventListener("visibilitychange", start);
    };
  }, [delayMs]);
  return isArmed;
}
