import { hideSecrets } from "../../lib/secret-shapes.ts";
import type { RequestError } from "./request-record.ts";

const messageCharactersMax = 1000;
const paramCharactersMax = 200;
/** Bounds the redaction. A secret across this bound is far beyond what is stored. */
const readCharactersMax = 4000;

/** An error as the log stores it: bounded, storable, and without secrets that the message quotes from the request. */
export function describeError({ message, param }: RequestError): RequestError {
  return {
    message: makeStorable(message, messageCharactersMax),
    param: param === null ? null : makeStorable(param, paramCharactersMax),
  };
}

function makeStorable(text: string, charactersMax: number): string {
  const redacted = hideSecrets(text.slice(0, readCharactersMax));
  const isCut = redacted.length > charactersMax;
  const shown = isCut ? `${redacted.slice(0, charactersMax - 1)}…` : redacted;
  return shown.replaceAll("\0", "\ufffd").toWellFormed();
}
