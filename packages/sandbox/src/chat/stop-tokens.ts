/** Ends before the first stop sequence. Tokens that may be the beginning of one are held back until it is known. */
export function* stopTokens(tokens: Iterable<string>, stops: readonly string[]): Generator<string, void> {
  const heldMax = Math.max(0, ...stops.map((stop) => stop.length - 1));
  let held: string[] = [];
  for (const token of tokens) {
    held.push(token);
    const text = held.join("");
    const found = stops.map((stop) => text.indexOf(stop)).filter((at) => at >= 0);
    if (found.length > 0) {
      yield* cutTokens(held, Math.min(...found));
      return;
    }
    let length = text.length;
    let known = 0;
    while (known < held.length && length - (held[known] ?? "").length >= heldMax) {
      length -= (held[known] ?? "").length;
      known += 1;
    }
    yield* held.slice(0, known);
    held = held.slice(known);
  }
  yield* held;
}

function* cutTokens(tokens: readonly string[], length: number): Generator<string, void> {
  let left = length;
  for (const token of tokens) {
    if (left <= 0) return;
    yield token.slice(0, left);
    left -= token.length;
  }
}
