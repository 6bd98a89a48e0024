import { buttonClasses } from "../../design/button.tsx";
import { joinClasses } from "../../design/join-classes.ts";

/** Whether new requests appear automatically. */
export function LiveSwitch({ isLive, onChange }: { isLive: boolean; onChange(isLive: boolean): void }) {
  return (
    <button
      type="button"
      role="switch"
      aria-checked={isLive}
      aria-label="Live"
      onClick={() => onChange(!isLive)}
      className={buttonClasses("plain")}
    >
      <span
        className={joinClasses(
          "size-2 rounded-full",
          isLive ? "bg-success ring-4 ring-success-soft" : "bg-line-strong",
        )}
      />
      {isLive ? "Live" : "Paused"}
    </button>
  );
}
