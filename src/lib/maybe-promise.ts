/** A value, or a promise of one that has to be waited for. What is here already costs no promise, and nobody a turn. */
export type MaybePromise<T> = T | Promise<T>;

/** Goes on with a value: at once where it is here, later where it has to be waited for. */
export function whenHere<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
