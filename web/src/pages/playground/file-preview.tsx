import { fileUrl } from "./kept-file.ts";
import type { KeptFile } from "./media-values.ts";

export function FilePreview({ file, frame }: { file: KeptFile; frame: string }) {
  const url = fileUrl(file.id);
  if (file.contentType.startsWith("image/")) return <img src={url} alt={file.name} loading="lazy" className={frame} />;
  if (file.contentType.startsWith("video/")) {
    return <video src={`${url}#t=0.1`} muted preload="metadata" aria-label={file.name} className={frame} />;
  }
  // biome-ignore lint/a11y/useMediaCaption: the user's own recording.
  return <audio src={url} controls preload="metadata" aria-label={file.name} className="w-full min-w-0" />;
}
