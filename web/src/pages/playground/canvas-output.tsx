import type { ReactNode } from "react";
import type { TaskOutput } from "../../api/ask-tasks.ts";
import { OutputView } from "../../parts/records/output-view.tsx";
import { fileUrl, keepOutput, writeDragged } from "./kept-file.ts";

type CanvasOutputProps = { output: TaskOutput; name: string; actions?: ReactNode; isSmall?: boolean };

/** An output at full size. It can be dragged into any file field. */
export function CanvasOutput({ output, name, actions, isSmall = false }: CanvasOutputProps) {
  const { content_type: contentType, file_id: fileId, width, height } = output;
  const isImage = contentType.startsWith("image/");
  if (isSmall) {
    const frame = "aspect-video w-full rounded-md border border-line bg-sunken object-contain";
    return isImage ? (
      <img
        src={fileUrl(fileId)}
        alt={name}
        width={width}
        height={height}
        loading="lazy"
        className={frame}
        onDragStart={(event) => writeDragged(event.dataTransfer, keepOutput(output, name))}
      />
    ) : (
      // biome-ignore lint/a11y/useMediaCaption: a shot of a drama has its captions in the final video.
      <video src={fileUrl(fileId)} controls playsInline preload="metadata" aria-label={name} className={frame} />
    );
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dragging duplicates its menu.
    <div
      className="flex min-w-0 flex-col gap-1"
      draggable={isImage}
      onDragStart={(event) => writeDragged(event.dataTransfer, keepOutput(output, name))}
    >
      <OutputView output={output} name={name} />
      {actions}
    </div>
  );
}
