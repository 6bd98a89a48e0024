import { countTokens } from "../../lib/token-meter.ts";
import { findContents } from "../../providers/chat-contents.ts";
import type { ChatRequest } from "../../providers/chat-request.ts";

/** The size of the input, estimated without a tokenizer. */
export type InputSize = {
  /** Upper bound: a token has at least one byte, and images and audio have bounds of their own. */
  tokensMax: number;
  /** An estimate, for limits that are corrected after the call. */
  tokensLikely: number;
  /** The characters of all texts, for `max_prompt_length`. */
  characters: number;
  /** Text only, so that our own count is meaningful. */
  isText: boolean;
};

/** No vendor counts more for an image of usual size. */
const imageTokensMax = 3_000;
const imageTokensLikely = 800;
const bytesPerToken = 4;
/** Audio has about 10 tokens a second, and mostly 2000 bytes a second, at least 500. Base64 adds a third. */
const audioCharactersPerToken = { fewest: 60, likely: 200 };
/**
 * Documents are mostly markup: a page has a few hundred tokens and tens of thousands of bytes. A dense one may have a
 * token in each byte.
 */
const fileCharactersPerToken = { fewest: 1, likely: 16 };
/** Tokens that vendors add around each message. */
const tokensAroundMessage = 16;

/** Measures by the length of the body, so that long texts are not read twice. */
export function measureInput(request: ChatRequest, bodyBytes: number): InputSize {
  const contents = findContents(request);
  if (contents === null) return measureMessages(request, bodyBytes);
  return {
    tokensMax: bodyBytes + contents.messages * tokensAroundMessage,
    tokensLikely: Math.ceil(bodyBytes / bytesPerToken),
    characters: contents.characters,
    isText: true,
  };
}

function measureMessages(request: ChatRequest, bodyBytes: number): InputSize {
  let mediaBytes = 0;
  let mediaTokensMax = 0;
  let mediaTokensLikely = 0;
  let characters = 0;
  const addMedia = (length: number, charactersPerToken: { fewest: number; likely: number }): void => {
    mediaBytes += length;
    mediaTokensMax += Math.ceil(length / charactersPerToken.fewest);
    mediaTokensLikely += Math.ceil(length / charactersPerToken.likely);
  };
  for (const message of request.messages) {
    const { content } = message;
    if (typeof content === "string") {
      characters += content.length;
      continue;
    }
    for (const part of content ?? []) {
      if (part.type === "text") characters += part.text.length;
      if (part.type === "image_url") {
        mediaBytes += part.image_url.url.length;
        mediaTokensMax += imageTokensMax;
        mediaTokensLikely += imageTokensLikely;
      }
      if (part.type === "input_audio") addMedia(part.input_audio.data.length, audioCharactersPerToken);
      if (part.type === "file") addMedia(part.file.file_data?.length ?? 0, fileCharactersPerToken);
    }
  }
  const textBytes = Math.max(bodyBytes - mediaBytes, 0);
  return {
    tokensMax: textBytes + mediaTokensMax + request.messages.length * tokensAroundMessage,
    tokensLikely: Math.ceil(textBytes / bytesPerToken) + mediaTokensLikely,
    characters,
    isText: mediaTokensMax === 0,
  };
}

/** Our own count of the input, for calls without a usage report. */
export function countInput(request: ChatRequest, { tokensMax }: Partial<InputSize> = {}): number {
  const { tools, response_format: format } = request;
  let tokens = tools === undefined ? 0 : countTokens(JSON.stringify(tools));
  if (format?.type === "json_schema") tokens += countTokens(JSON.stringify(format));
  for (const message of request.messages) {
    const { content } = message;
    if (typeof content === "string") tokens += countTokens(content);
    else {
      for (const part of content ?? []) {
        if (part.type === "text") tokens += countTokens(part.text);
        if (part.type === "image_url") tokens += imageTokensLikely;
        if (part.type === "file")
          tokens += Math.ceil((part.file.file_data?.length ?? 0) / fileCharactersPerToken.likely);
      }
    }
    if (message.role === "assistant" && message.tool_calls != null) {
      tokens += countTokens(JSON.stringify(message.tool_calls));
    }
  }
  return Math.min(tokens, tokensMax ?? tokens);
}
