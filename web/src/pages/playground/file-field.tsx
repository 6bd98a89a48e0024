import { useEffect, useId, useRef, useState } from "react";
import { ApiError } from "../../api/console-api.ts";
import { Button } from "../../design/button.tsx";
import { Icon } from "../../design/icon.tsx";
import { InlineCodeText } from "../../design/inline-code-text.tsx";
import { joinClasses } from "../../design/join-classes.ts";
import { ProgressBar } from "../../design/progress-bar.tsx";
import { formatBytes } from "../../parts/format/format-bytes.ts";
import { redirectToSignIn } from "../../parts/session/redirect-to-sign-in.ts";
import { DropArea } from "./drop-area.tsx";
import { FilePreview } from "./file-preview.tsx";
import { fileUrl } from "./kept-file.ts";
import type { FilesMedia } from "./media-fields.ts";
import type { KeptFile } from "./media-values.ts";
import { RecentFiles } from "./recent-files.tsx";
import { describeWrongKind, fileKinds, isOfKind, measureSeconds, uploadFile } from "./upload-input-file.ts";

/** Files dropped elsewhere on the page, for the field that accepts them. */
export type Dropped = { files: File[]; kept: KeptFile | null };

type FileFieldProps = {
  field: Pick<FilesMedia, "label" | "name" | "takes" | "countMax"> & { hint?: string };
  files: readonly KeptFile[];
  error: string | null;
  dropped?: Dropped | null;
  onChange(files: KeptFile[]): void;
};

/** Files for a request: dropped, chosen or from recent files. Uploads at once. */
export function FileField({ field, files, error, dropped = null, onChange }: FileFieldProps) {
  const { label, takes, countMax, hint } = field;
  const upload = useUpload({ takes, countMax, files, onChange });
  const id = useId();
  const problem = upload.problem ?? error;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each drop is taken once.
  useEffect(() => {
    if (dropped === null) return;
    if (dropped.kept !== null) upload.addKept(dropped.kept);
    else upload.add(dropped.files);
  }, [dropped]);
  return (
    <fieldset
      aria-describedby={[problem === null ? null : `${id}-problem`, `${id}-hint`].filter(Boolean).join(" ")}
      className="flex min-w-0 flex-col gap-1.5"
    >
      <legend className="mb-1.5 text-sm font-medium">{label}</legend>
      <DropArea onFiles={upload.add} onKept={upload.addKept}>
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
              <p className="truncate">Uploading {upload.sending.name}</p>
              <ProgressBar label={`Uploading ${upload.sending.name}`} percent={upload.sending.percent} />
            </div>
          )}
          {files.length < countMax && upload.sending === null && <Choices field={field} upload={upload} />}
        </div>
      </DropArea>
      {problem !== null && (
        <p id={`${id}-problem`} role="alert" className="text-sm text-danger">
          <InlineCodeText text={problem} />
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

type ChoicesProps = Pick<FileFieldProps, "field"> & { upload: Pick<ReturnType<typeof useUpload>, "add" | "addKept"> };

function Choices({ field: { label, name, takes, countMax }, upload }: ChoicesProps) {
  const chooser = useRef<HTMLInputElement>(null);
  const [isChoosing, setChoosing] = useState(false);
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
      <Button onClick={() => chooser.current?.click()} aria-label={`Choose a file: ${label}`}>
        <Icon name="upload" />
        Choose {countMax === 1 ? "a file" : "files"}
      </Button>
      <Button onClick={() => setChoosing(true)} aria-label={`Recent files: ${label}`}>
        Recent
      </Button>
      <span className="text-sm text-ink-soft">or drop {countMax === 1 ? "it" : "them"} here</span>
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
      {isChoosing && (
        <RecentFiles label={label} takes={takes} onChoose={upload.addKept} onClose={() => setChoosing(false)} />
      )}
    </div>
  );
}

function FileRow({ file, onRemove }: { file: KeptFile; onRemove(): void }) {
  return (
    <div className="flex flex-wrap items-center gap-3">
      <FilePreview file={file} frame="size-16 shrink-0 rounded-md border border-line bg-sunken object-cover" />
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

function capitalize(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

type UploadOptions = Pick<FilesMedia, "takes" | "countMax"> & {
  files: readonly KeptFile[];
  onChange(files: KeptFile[]): void;
};

/** Uploads files one after the other; a failure keeps the files uploaded so far. */
function useUpload({ takes, countMax, files, onChange }: UploadOptions) {
  const [sending, setSending] = useState<{ name: string; percent: number } | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const left = useRef<AbortController | null>(null);
  useEffect(() => () => left.current?.abort(), []);
  // A new file replaces the only one.
  const before = countMax === 1 ? [] : files;

  async function add(chosen: readonly File[]): Promise<void> {
    if (left.current !== null) return;
    const stopper = new AbortController();
    left.current = stopper;
    setProblem(null);
    let kept = [...before];
    try {
      for (const file of chosen.slice(0, countMax - kept.length)) {
        if (!isOfKind(file.type, takes)) throw new Error(describeWrongKind(file, takes));
        setSending({ name: file.name, percent: 0 });
        const onProgress = (percent: number) => setSending({ name: file.name, percent });
        kept = [...kept, await uploadFile(file, { kind: takes, signal: stopper.signal, onProgress })];
        onChange(kept);
      }
      if (chosen.length > countMax && countMax > 1) setProblem(`Choose up to ${countMax} files.`);
    } catch (error) {
      if (stopper.signal.aborted) return;
      if (error instanceof ApiError && error.code === "not_signed_in") redirectToSignIn();
      setProblem(error instanceof Error ? error.message : "The upload failed. Try again.");
    } finally {
      left.current = null;
      setSending(null);
    }
  }

  /** Files of the account are not uploaded again. */
  async function addKept(file: KeptFile): Promise<void> {
    if (!isOfKind(file.contentType, takes)) return setProblem(describeWrongKind(file, takes));
    if (before.length >= countMax) return setProblem(`Choose up to ${countMax} files.`);
    setProblem(null);
    const isMeasured = takes !== "audio" || file.seconds !== null;
    const seconds = isMeasured ? file.seconds : await measureSeconds(fileUrl(file.id));
    onChange([...before.filter(({ id }) => id !== file.id), { ...file, seconds }]);
  }

  return {
    sending,
    problem,
    add: (chosen: readonly File[]) => void add(chosen),
    addKept: (file: KeptFile) => void addKept(file),
  };
}
