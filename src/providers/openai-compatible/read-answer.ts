import { createByteCollector } from "./collect-bytes.ts";
import { asRecord, listStructureMax, parseJson } from "./json-value.ts";
import { type AnswerReader, createBadAnswer, type ErrorReader, type Outlet } from "./outlet.ts";
import { readReportedUsage } from "./read-usage.ts";
import { type CleanAnswerChoice, type CleanChunkChoice, sanitiseAnswerChoice } from "./sanitise-choice.ts";
import type { WrittenText } from "./written-text.ts";

type AnswerReaderOptions = {
  outlet: Outlet;
  /** Some upstreams send a complete answer although a stream was requested. */
  isStreamWanted: boolean;
  /** Log probabilities make an answer many times as large. */
  hasLogprobs: boolean;
  errors: ErrorReader;
};

const answerBytesMax = 32 * 1024 * 1024;

/** Reads an answer that arrives as one JSON text. */
export function createAnswerReader({ outlet, isStreamWanted, hasLogprobs, errors }: AnswerReaderOptions): AnswerReader {
  const body = createByteCollector(answerBytesMax);
  return {
    add(chunk) {
      if (!body.add(chunk)) outlet.fail(createBadAnswer("The response is too large."));
    },
    end() {
      const parsed = parseJson(body.take().toString("utf8"), hasLogprobs ? listStructureMax : undefined);
      const answer = asRecord(parsed);
      if (answer === null) return outlet.fail(createBadAnswer("The response is not a JSON object."));
      if (answer.error !== undefined && answer.error !== null) return outlet.fail(errors.readError(parsed));
      if (!Array.isArray(answer.choices)) return outlet.fail(createBadAnswer("The response has no choices."));
      const written: WrittenText = { text: "" };
      const choices = sanitiseAnswerChoices(answer.choices, written);
      const usage = readReportedUsage(answer);
      if (choices.length === 0) return outlet.fail(createBadAnswer("The response has no choices."));
      if (!isStreamWanted) return outlet.answer({ choices: JSON.stringify(choices), ...written, usage });
      const piece = { choices: JSON.stringify(choices.map(turnIntoChunk)), ...written };
      outlet.push(usage === null ? piece : { ...piece, usage });
      outlet.end(usage);
    },
    fail: (error) => outlet.fail(error),
  };
}

export function sanitiseAnswerChoices(values: readonly unknown[], written: WrittenText): CleanAnswerChoice[] {
  const clean: CleanAnswerChoice[] = [];
  for (let position = 0; position < values.length; position += 1) {
    const choice = sanitiseAnswerChoice(values[position], position, written);
    if (choice !== null) clean.push(choice);
  }
  return clean;
}

function turnIntoChunk({ index, message, finish_reason, logprobs }: CleanAnswerChoice): CleanChunkChoice {
  const { tool_calls: calls, ...delta } = message;
  return {
    index,
    delta: calls === undefined ? delta : { ...delta, tool_calls: calls.map((call, at) => ({ index: at, ...call })) },
    finish_reason,
    ...(logprobs === null ? {} : { logprobs }),
  };
}
