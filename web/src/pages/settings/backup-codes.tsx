import { Button, buttonClasses } from "../../design/button.tsx";
import { CopyButton } from "../../design/copy-button.tsx";

/** Shown once; new codes can be created later. */
export function BackupCodes({ codes, onDone }: { codes: readonly string[]; onDone(): void }) {
  const text = `${codes.join("\n")}\n`;
  return (
    <div className="flex flex-col gap-5">
      <ul aria-label="Backup codes" className="grid max-w-md grid-cols-2 gap-2">
        {codes.map((code) => (
          <li key={code} className="rounded-md bg-sunken px-3 py-2 text-center font-mono text-sm">
            {code}
          </li>
        ))}
      </ul>
      <div className="flex flex-wrap gap-3">
        <CopyButton text={text} label="Copy all" />
        <a
          href={`data:text/plain;charset=utf-8,${encodeURIComponent(text)}`}
          download="sluice-backup-codes.txt"
          className={buttonClasses("plain")}
        >
          Download
        </a>
        <Button look="primary" onClick={onDone}>
          Done
        </Button>
      </div>
    </div>
  );
}
