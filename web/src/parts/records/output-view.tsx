import { useState } from "react";
import type { TaskOutput } from "../../api/fetch-tasks.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { buttonClasses } from "../../design/button.tsx";
import { Icon } from "../../design/icon.tsx";
import { InlineCodeText } from "../../design/inline-code-text.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { formatBytes } from "../format/format-bytes.ts";
import { linkDownload, linkOutput, linkThumbnail } from "./output-links.ts";

/** Browsers cannot play raw samples. */
const playableAudio = /^audio\/(mpeg|wav|ogg|mp4|webm|flac)/;
const documentCharactersMax = 20_000;

type OutputViewProps = {
  output: TaskOutput;
  name: string;
  /** Download name without extension. */
  downloadName?: string;
};

export function OutputView({ output, name, downloadName = name }: OutputViewProps) {
  const shown = useFirstLink(output);
  return (
    <figure className="flex min-w-0 flex-col gap-2">
      <Preview output={shown} url={linkOutput(shown)} name={name} />
      <figcaption className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1 text-xs text-ink-soft">
        <span>{describeOutput(output)}</span>
        <a href={linkDownload(output, downloadName)} download className={buttonClasses("quiet", "-mr-2")}>
          <Icon name="download" />
          Download
        </a>
      </figcaption>
    </figure>
  );
}

/** Keeps the first link: with every response the link changes, and a new `src` would restart playback. */
function useFirstLink(output: TaskOutput): TaskOutput {
  const [first, setFirst] = useState(output);
  const isOver = Number(new URL(first.url).searchParams.get("expires")) * 1000 <= Date.now();
  const isAnother = first.file_id !== output.file_id || (isOver && first.url !== output.url);
  if (isAnother) setFirst(output);
  return isAnother ? output : first;
}

function Preview({ output, url, name }: { output: TaskOutput; url: string; name: string }) {
  // Operators who see the account get no signed links.
  if (!url.includes("?")) return <p className="text-sm text-ink-soft">Contents are hidden in a view.</p>;
  const { content_type: contentType, width, height } = output;
  const frame = "max-h-[32rem] w-full rounded-md border border-line bg-sunken object-contain";
  if (contentType.startsWith("image/")) {
    return <img src={url} alt={name} width={width} height={height} className={frame} />;
  }
  if (contentType.startsWith("video/")) {
    // Videos fade in from black, so preview a later frame. Drama captions are burned in; other videos have none.
    const shown = { src: url, poster: linkThumbnail(output), "aria-label": name, className: frame };
    // Without it, the player is 2:1 until the metadata has loaded.
    const aspectRatio = width === undefined || height === undefined ? undefined : `${width} / ${height}`;
    return <video {...shown} style={{ aspectRatio }} controls playsInline preload="metadata" />;
  }
  if (playableAudio.test(contentType)) {
    // biome-ignore lint/a11y/useMediaCaption: the request contains the spoken text.
    return <audio src={url} controls preload="metadata" aria-label={name} className="w-full" />;
  }
  if (contentType.startsWith("audio/")) {
    return <p className="text-sm">Browsers cannot play raw samples. Download the file, or choose another format.</p>;
  }
  return <DocumentPreview pathname={new URL(output.url).pathname} name={name} />;
}

/** Fetched on demand. */
function DocumentPreview({ pathname, name }: { pathname: string; name: string }) {
  const [isOpen, setOpen] = useState(false);
  const fileId = pathname.split("/").at(-1) ?? "";
  const { data, error } = useTableQuery(queryTable.tasks.document(fileId), { isEnabled: isOpen });
  return (
    <details
      onToggle={(event) => setOpen(event.currentTarget.open)}
      className="rounded-md border border-line bg-sunken text-sm"
    >
      <summary className="px-3 py-2 font-medium">{name}</summary>
      <div className="max-h-96 overflow-auto border-t border-line p-3">
        {error !== null && (
          <p className="text-danger">
            <InlineCodeText text={error.message} />
          </p>
        )}
        {error === null && data === undefined && <Skeleton className="h-40" />}
        {data !== undefined && <pre className="font-mono text-xs whitespace-pre-wrap">{presentDocument(data)}</pre>}
      </div>
    </details>
  );
}

function presentDocument(text: string): string {
  let shown = text;
  try {
    shown = JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // Subtitles are plain text.
  }
  return shown.length <= documentCharactersMax ? shown : `${shown.slice(0, documentCharactersMax)}\n…`;
}

function describeOutput({ content_type: contentType, bytes, width, height, duration }: TaskOutput): string {
  const size = width === undefined || height === undefined ? null : `${width} × ${height}`;
  const length = duration === undefined ? null : `${Math.round(duration * 10) / 10} s`;
  return [contentType, size, length, formatBytes(bytes)].filter((part) => part !== null).join(" · ");
}
