import { useEffect, useId, useRef, useState } from "react";
import { ApiError } from "../../api/console-api.ts";
import { Button } from "../../design/button.tsx";
import { Icon } from "../../design/icon.tsx";
import { joinClasses } from "../../design/join-classes.ts";
import { ProgressBar } from "../../design/progress-bar.tsx";
import { formatBytes } from "../../parts/format/format-bytes.ts";
import { leaveForSignIn } from "../../parts/session/leave-for-sign-in.ts";
import { DropArea } from "./drop-area.tsx";
import type { FilesMedia } from "./media-fields.ts";
import type { KeptFile } from "./media-values.ts";
import { describeWrongKind, fileKinds, isOfKind, sendFile } from "./send-file.ts";

type FileFieldProps = {
  field: Pick<FilesMedia, "label" | "name" | "takes" | "countMax"> & { hint?: string };
  files: readonly KeptFile[];
  error: string | null;
  onChange(files: KeptFile[]): void;
};

/** Files for a request: dropped or chosen, sent at once, shown as they are. */
export function FileField({ field, files, error, onChange }: FileFieldProps) {
  const { label, name, takes, countMax, hint } = field;
  const upload = useUpload({ takes, countMax, files, onChange });
  const chooser = useRef<HTMLInputElement>(null);
  const id = useId();
  const problem = upload.problem ?? error;
  const isFull = files.length >= countMax;
  return (
    <fieldset
      aria-describedby={[problem === null ? null : `${id}-problem`, `${id}-hint`].filter(Boolean).join(" ")}
      className="flex min-w-0 flex-col gap-1.5"
    >
      <legend className="mb-1.5 text-sm font-medium">{label}</legend>
      <DropArea onFiles={upload.add}>
        <div
          className={joinClasses(
            "flex flex-col gap-3 rounded-lg border border-dashed bg-surface p-3",
            problem === null ? "border-line-strong" : "border-danger",
          )}
        >
          {files.map((file) => (
            <FileRow key={file.id} file={file} onRemove={() => onChange(files.filter((each) => each.id !== file.id))} />
          ))}
          {upload.sending !== null && (
            <div className="flex flex-col gap-2 text-sm">
              <p className="truncate">Sending {upload.sending.name}</p>
              <ProgressBar label={`Sending ${upload.sending.name}`} percent={upload.sending.percent} />
            </div>
          )}
          {!isFull && upload.sending === null && (
            <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
              <Button onClick={() => chooser.current?.click()} aria-label={`Choose a file: ${label}`}>
                <Icon name="upload" />
                Choose {countMax === 1 ? "a file" : "files"}
              </Button>
              <span className="text-sm text-ink-soft">or drop {countMax === 1 ? "it" : "them"} here</span>
            </div>
          )}
          <input
            ref={chooser}
            type="file"
            name={name}
            hidden
            tabIndex={-1}
            aria-label={label}
            multiple={countMax > 1}
            accept={fileKinds[takes].accept}
            onChange={(event) => {
              upload.add([...(event.target.files ?? [])]);
              event.target.value = "";
            }}
          />
        </div>
      </DropArea>
      {problem !== null && (
        <p id={`${id}-problem`} role="alert" className="text-sm text-danger">
          {problem}
        </p>
      )}
      <p id={`${id}-hint`} className="text-sm text-ink-soft">
        {[hint, `${capitalize(fileKinds[takes].words)}${countMax > 1 ? `, up to ${countMax}` : ""}.`]
          .filter((part) => part !== undefined)
          .join(" ")}
      </p>
    </fieldset>
  );
}

type UploadOptions = Pick<FilesMedia, "takes" | "countMax"> & {
  files: readonly KeptFile[];
  onChange(files: KeptFile[]): void;
};

/** One file is sent after the other; what was sent stays, also when one of them is refused. */
function useUpload({ takes, countMax, files, onChange }: UploadOptions) {
  const [sending, setSending] = useState<{ name: string; percent: number } | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const left = useRef<AbortController | null>(null);
  useEffect(() => () => left.current?.abort(), []);
  async function add(chosen: readonly File[]): Promise<void> {
    if (left.current !== null) return;
    const stopper = new AbortController();
    left.current = stopper;
    setProblem(null);
    // A new file takes the place of the only one.
    let kept = countMax === 1 ? [] : [...files];
    try {
      for (const file of chosen.slice(0, countMax - kept.length)) {
        if (!isOfKind(file.type, takes)) throw new Error(describeWrongKind(file, takes));
        setSending({ name: file.name, percent: 0 });
        const onProgress = (percent: number) => setSending({ name: file.name, percent });
        kept = [...kept, await sendFile(file, { kind: takes, signal: stopper.signal, onProgress })];
        onChange(kept);
      }
      if (chosen.length > countMax && countMax > 1) setProblem(`This takes up to ${countMax} files.`);
    } catch (error) {
      if (stopper.signal.aborted) return;
      if (error instanceof ApiError && error.code === "not_signed_in") leaveForSignIn();
      setProblem(error instanceof Error ? error.message : "The file could not be sent.");
    } finally {
      left.current = null;
      setSending(null);
    }
  }
  return { sending, problem, add: (chosen: readonly File[]) => void add(chosen) };
}

function FileRow({ file, onRemove }: { file: KeptFile; onRemove(): void }) {
  return (
    <div className="flex flex-wrap items-center gap-3">
      <FilePreview file={file} />
      <div className="min-w-0 flex-1">
        <p className="truncate text-sm font-medium">{file.name}</p>
        <p className="text-xs text-ink-soft">{formatBytes(file.bytes)}</p>
      </div>
      <Button look="quiet" onClick={onRemove} aria-label={`Remove ${file.name}`}>
        Remove
      </Button>
    </div>
  );
}

function FilePreview({ file }: { file: KeptFile }) {
  const url = `/console/api/files/${file.id}/content`;
  const frame = "size-16 shrink-0 rounded-md border border-line bg-sunken object-cover";
  if (file.contentType.startsWith("image/")) return <img src={url} alt={file.name} className={frame} />;
  if (file.contentType.startsWith("video/")) {
    return <video src={url} muted preload="metadata" aria-label={file.name} className={frame} />;
  }
  // biome-ignore lint/a11y/useMediaCaption: the reader's own recording.
  return <audio src={url} controls preload="metadata" aria-label={file.name} className="w-full" />;
}

function capitalize(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
