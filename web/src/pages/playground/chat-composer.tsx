import { type KeyboardEvent, useId, useRef, useState } from "react";
import { Button } from "../../design/button.tsx";
import { Icon } from "../../design/icon.tsx";
import { InlineCodeText } from "../../design/inline-code-text.tsx";
import { inputClasses } from "../../design/text-field.tsx";
import type { AttachedImage } from "./conversation.ts";
import { DropArea } from "./drop-area.tsx";
import { useStoredState } from "./use-stored-state.ts";

export type ChatDraft = { text: string; images: AttachedImage[] };

export const emptyDraft: ChatDraft = { text: "", images: [] };

const keptDraft = {
  parse: (stored: unknown): ChatDraft => ({ ...emptyDraft, ...(typeof stored === "object" ? stored : {}) }),
  shorten: (draft: ChatDraft): ChatDraft => ({ ...draft, images: [] }),
};

export function useChatDraft() {
  return useStoredState("message", keptDraft);
}

export function isEmptyDraft({ text, images }: ChatDraft): boolean {
  return text.trim() === "" && images.length === 0;
}

type ChatComposerProps = {
  draft: ChatDraft;
  onChange(draft: ChatDraft): void;
  takesImages: boolean;
  isBusy: boolean;
  stopLabel?: string;
  onSend(): void;
  onStop(): void;
};

/** Enter sends; Shift + Enter inserts a line break. */
export function ChatComposer(props: ChatComposerProps) {
  const { draft, onChange, takesImages, isBusy, stopLabel = "Stop", onSend, onStop } = props;
  const [problem, setProblem] = useState<string | null>(null);
  const chooser = useRef<HTMLInputElement>(null);
  const problemId = useId();
  const isEmpty = isEmptyDraft(draft);
  const add = async (files: readonly File[]) => {
    const chosen = await chooseImages(files, draft.images);
    setProblem(chosen.problem);
    onChange({ ...draft, images: chosen.images });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // During IME composition (Chinese, Japanese), Enter confirms the character.
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    if (!isBusy && !isEmpty) onSend();
  };
  return (
    <DropArea isOff={!takesImages} onFiles={add}>
      <div className="flex flex-col gap-3 rounded-lg border border-line-strong bg-surface p-3 shadow-card">
        <AttachedImages
          images={draft.images}
          onRemove={(image) => onChange({ ...draft, images: draft.images.filter((each) => each.url !== image.url) })}
        />
        <textarea
          aria-label="Message"
          name="message"
          rows={2}
          placeholder="Write a message"
          value={draft.text}
          onChange={(event) => onChange({ ...draft, text: event.target.value })}
          onKeyDown={onKeyDown}
          onPaste={(event) => {
            const files = [...event.clipboardData.files];
            if (!takesImages || files.length === 0) return;
            event.preventDefault();
            void add(files);
          }}
          aria-describedby={problem === null ? undefined : problemId}
          className={`${inputClasses} field-sizing-content max-h-72 resize-none border-transparent px-1 py-1.5`}
        />
        {problem !== null && (
          <p id={problemId} role="alert" className="text-sm text-danger">
            <InlineCodeText text={problem} />
          </p>
        )}
        <div className="flex items-center gap-3">
          {takesImages && (
            <>
              <Button look="quiet" onClick={() => chooser.current?.click()}>
                <Icon name="plus" />
                Image
              </Button>
              <input
                ref={chooser}
                type="file"
                aria-label="Images for the message"
                tabIndex={-1}
                hidden
                multiple
                accept={imageTypes.join(",")}
                onChange={(event) => {
                  void add([...(event.target.files ?? [])]);
                  event.target.value = "";
                }}
              />
            </>
          )}
          <p className="ml-auto text-xs text-ink-soft max-sm:hidden">Enter to send, Shift + Enter for a new line</p>
          {isBusy ? (
            <Button onClick={onStop} className="max-sm:ml-auto">
              {stopLabel}
            </Button>
          ) : (
            <Button look="primary" onClick={onSend} isDisabled={isEmpty} className="max-sm:ml-auto">
              Send
            </Button>
          )}
        </div>
      </div>
    </DropArea>
  );
}

function AttachedImages({
  images,
  onRemove,
}: {
  images: readonly AttachedImage[];
  onRemove(image: AttachedImage): void;
}) {
  if (images.length === 0) return null;
  return (
    <ul aria-label="Images in the message" className="flex flex-wrap gap-3">
      {images.map((image) => (
        <li key={image.url} className="relative">
          <img src={image.url} alt={image.name} className="size-20 rounded-md border border-line object-cover" />
          <button
            type="button"
            aria-label={`Remove ${image.name}`}
            onClick={() => onRemove(image)}
            className="absolute -top-2 -right-2 rounded-full border border-line-strong bg-surface p-1 hover:bg-sunken"
          >
            <Icon name="close" className="size-3.5" />
          </button>
        </li>
      ))}
    </ul>
  );
}

const imagesMax = 4;
const imageBytesMax = 4 * 1024 * 1024;
const imageTypes = ["image/png", "image/jpeg", "image/webp", "image/gif"];

/** Returns the images, or why one was rejected. */
async function chooseImages(
  files: readonly File[],
  known: readonly AttachedImage[],
): Promise<{ images: AttachedImage[]; problem: string | null }> {
  const images = [...known];
  for (const file of files) {
    if (!imageTypes.includes(file.type)) {
      return { images, problem: `${file.name} is not a PNG, JPEG, WebP or GIF image. Choose another file.` };
    }
    if (file.size > imageBytesMax) {
      return { images, problem: `${file.name} is too large. Choose an image of up to 4 MB.` };
    }
    if (images.length >= imagesMax) {
      return { images, problem: `A message can have up to ${imagesMax} images. Remove one first.` };
    }
    images.push({ name: file.name, url: await readAsDataUrl(file) });
  }
  return { images, problem: null };
}

async function readAsDataUrl(file: File): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const reader = new FileReader();
  reader.onload = () => resolve(String(reader.result));
  reader.onerror = () => reject(new Error(`${file.name} cannot be read. Choose another file.`));
  reader.readAsDataURL(file);
  return await promise;
}
