import { Icon } from "../../../design/icon.tsx";

type Check = { check: string; ok: boolean; message: string; remedy: string | null };

/** What a test of a provider found. */
export function CheckLines({ checks }: { checks: readonly Check[] }) {
  return (
    <ul className="flex flex-col gap-1.5 text-sm" aria-label="Checks">
      {checks.map(({ check, ok, message, remedy }) => (
        <li key={`${check} ${message}`} className="flex gap-2">
          <span className={ok ? "text-success" : "text-danger"}>
            <Icon name={ok ? "check" : "close"} />
          </span>
          <span className="min-w-0 wrap-anywhere">
            <span className="sr-only">{ok ? "Passed: " : "Failed: "}</span>
            {message}
            {remedy !== null && <span className="block text-ink-soft">{remedy}</span>}
          </span>
        </li>
      ))}
    </ul>
  );
}
