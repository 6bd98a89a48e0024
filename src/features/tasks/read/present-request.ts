import type { GenerationRequest, ImageFormat } from "../../../providers/generation.ts";
import { type CompositeRequest, isComposite, type Task, type TaskInput } from "../task.ts";

/** Presents a composite request in its endpoint's fields; provided by the feature that owns the endpoint. */
export type PresentComposite = (request: CompositeRequest) => Record<string, unknown>;

const pathByType = {
  image: "/images/generations",
  video: "/videos/generations",
  avatar: "/avatars/generations",
  drama: "/dramas/generations",
  speech: "/audio/speech",
} as const;

/**
 * A task's request as its caller would write it, with defaults filled in, so that the same body repeats the task even if
 * the model's defaults have changed.
 */
export function presentRequest(task: Task, presentComposite: PresentComposite) {
  const { request, inputs } = task;
  const fields = isComposite(task)
    ? presentComposite(task.request)
    : presentMedia(request as GenerationRequest, inputs);
  return {
    object: "generation.request" as const,
    task_id: task.id,
    endpoint: pathByType[task.type],
    body: {
      model: task.model,
      ...fields,
      ...(task.callbackUrl === null ? {} : { callback_url: task.callbackUrl }),
      ...(task.metadata === null ? {} : { metadata: task.metadata }),
    },
  };
}

function presentMedia(request: GenerationRequest, inputs: readonly TaskInput[]): Record<string, unknown> {
  const images = inputs.filter(({ role }) => role === "image").map(nameInput);
  const last = inputs.find(({ role }) => role === "last-image");
  const given = {
    ...(images.length === 0 ? {} : { input_images: images }),
    ...(last === undefined ? {} : { last_image: nameInput(last) }),
    ...request.options,
  };
  switch (request.type) {
    case "image": {
      const { prompt, width, height, count, format } = request;
      return { prompt, size: `${width}x${height}`, n: count, ...given, ...presentFormat(format) };
    }
    case "video": {
      const { prompt, durationSeconds, aspectRatio } = request;
      return { ...(prompt === "" ? {} : { prompt }), duration: durationSeconds, aspect_ratio: aspectRatio, ...given };
    }
    case "avatar":
      return {
        ...Object.fromEntries(inputs.map((input) => [input.param, nameInput(input)])),
        aspect_ratio: request.aspectRatio,
        ...given,
      };
    case "speech": {
      const { text, voice, format, speed } = request;
      return { input: text, voice, response_format: format, speed, ...given };
    }
  }
}

function presentFormat(format: ImageFormat | undefined): Record<string, unknown> {
  if (format === undefined) return {};
  const { name, quality } = format;
  return { output_format: name, ...(quality === undefined ? {} : { output_compression: quality }) };
}

function nameInput(input: TaskInput): string {
  return "fileId" in input ? input.fileId : input.url;
}
