import { useEffect, useRef, useState } from "react";
import { ApiError } from "../../api/console-api.ts";
import { leaveForSignIn } from "../../parts/session/leave-for-sign-in.ts";
import { fileUrl } from "./kept-file.ts";
import type { FilesMedia } from "./media-fields.ts";
import type { KeptFile } from "./media-values.ts";
import { describeWrongKind, isOfKind, measureSeconds, sendFile } from "./send-file.ts";

type UploadOptions = Pick<FilesMedia, "takes" | "countMax"> & {
  files: readonly KeptFile[];
  onChange(files: KeptFile[]): void;
};

/** Uploads files one after the other; a failure keeps the files uploaded so far. */
export function useUpload({ takes, countMax, files, onChange }: UploadOptions) {
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
        kept = [...kept, await sendFile(file, { kind: takes, signal: stopper.signal, onProgress })];
        onChange(kept);
      }
      if (chosen.length > countMax && countMax > 1) setProblem(`Choose up to ${countMax} files.`);
    } catch (error) {
      if (stopper.signal.aborted) return;
      if (error instanceof ApiError && error.code === "not_signed_in") leaveForSignIn();
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
