import { readOwnFile } from "../../api/fetch-files.ts";
import { Button } from "../../design/button.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
// Sandbox output, as on the landing page.
import face from "../landing/media/avatar-poster.webp";
import voice from "./media/sample-voice.mp3";
import type { FileKind } from "./media-fields.ts";
import type { KeptFile, MediaValues } from "./media-values.ts";
import { uploadFile } from "./upload-input-file.ts";

/** Uploads a sample face and a sample voice, and fills the form with them. */
export function AvatarSample({ onFill }: { onFill(values: MediaValues): void }) {
  const load = useAction(
    async () => ({
      avatar_file_id: [await uploadSample(face, { name: "sample-face.webp", type: "image/webp", kind: "person" })],
      audio_file_id: [await uploadSample(voice, { name: "sample-voice.mp3", type: "audio/mpeg", kind: "audio" })],
    }),
    onFill,
  );
  return (
    <section
      aria-label="Samples"
      className="flex flex-wrap items-center gap-4 rounded-md border border-line bg-surface p-3"
    >
      <img src={face} alt="Sample face" className="size-20 rounded-md object-cover" />
      <div className="flex min-w-0 flex-1 flex-col gap-2">
        {/* biome-ignore lint/a11y/useMediaCaption: a sample of a voice. */}
        <audio src={voice} controls preload="none" aria-label="Sample voice" className="h-9 w-full max-w-72" />
        <div>
          <Button onClick={() => load.run(undefined)} isBusy={load.isBusy}>
            Use this face and voice
          </Button>
        </div>
      </div>
      <FormError message={load.errorBeside()} />
    </section>
  );
}

type Sample = { name: string; type: string; kind: FileKind };

async function uploadSample(url: string, { name, type, kind }: Sample): Promise<KeptFile> {
  const file = new File([await readOwnFile(url)], name, { type });
  return await uploadFile(file, { kind, signal: new AbortController().signal, onProgress: () => {} });
}
