import { readOwnFile } from "../../api/fetch-files.ts";
import { Button } from "../../design/button.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
// All samples are output of the sandbox.
import presenter from "../landing/media/avatar-poster.webp";
import man from "./media/sample-man.webp";
import presenterVoice from "./media/sample-voice.mp3";
import manVoice from "./media/sample-voice-man.mp3";
import womanVoice from "./media/sample-voice-woman.mp3";
import woman from "./media/sample-woman.webp";
import type { FileKind } from "./media-fields.ts";
import type { KeptFile, MediaValues } from "./media-values.ts";
import { uploadFile } from "./upload-input-file.ts";

type AvatarSample = { name: string; face: string; voice: string };

const samples: readonly AvatarSample[] = [
  { name: "Presenter", face: presenter, voice: presenterVoice },
  { name: "Woman with glasses", face: woman, voice: womanVoice },
  { name: "Man with a beard", face: man, voice: manVoice },
];

/** Uploads the face and the voice of a sample, and fills the form with them. */
export function AvatarSamples({ onFill }: { onFill(values: MediaValues): void }) {
  const load = useAction(
    async ({ face, voice }: AvatarSample) => ({
      avatar_file_id: [await uploadSample(face, { name: "sample-face.webp", type: "image/webp", kind: "person" })],
      audio_file_id: [await uploadSample(voice, { name: "sample-voice.mp3", type: "audio/mpeg", kind: "audio" })],
    }),
    onFill,
  );
  return (
    <section aria-label="Samples" className="flex flex-col gap-2">
      <ul className="grid gap-3 sm:grid-cols-3">
        {samples.map((sample) => (
          <li key={sample.name} className="flex flex-col gap-2 rounded-md border border-line bg-surface p-3">
            <img src={sample.face} alt={sample.name} className="aspect-square w-full rounded-md object-cover" />
            {/* biome-ignore lint/a11y/useMediaCaption: a sample of a voice. */}
            <audio
              src={sample.voice}
              controls
              preload="none"
              aria-label={`Voice: ${sample.name}`}
              className="h-9 w-full"
            />
            <Button
              onClick={() => load.run(sample)}
              isBusy={load.isBusy}
              aria-label={`Use this face and voice: ${sample.name}`}
            >
              Use this face and voice
            </Button>
          </li>
        ))}
      </ul>
      <FormError message={load.errorBeside()} />
    </section>
  );
}

type SampleFile = { name: string; type: string; kind: FileKind };

async function uploadSample(url: string, { name, type, kind }: SampleFile): Promise<KeptFile> {
  const file = new File([await readOwnFile(url)], name, { type });
  return await uploadFile(file, { kind, signal: new AbortController().signal, onProgress: () => {} });
}
