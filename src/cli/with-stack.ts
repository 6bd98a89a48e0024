/** Runs work, then closes in the reverse order whatever it opened. */
export async function withStack<T>(work: (stack: AsyncDisposableStack) => Promise<T>): Promise<T> {
  const stack = new AsyncDisposableStack();
  try {
    return await work(stack);
  } finally {
    await stack.disposeAsync();
  }
}

/** What is opened, and closed with the stack. */
export async function openUsed<T extends { close(): Promise<void> }>(
  stack: AsyncDisposableStack,
  opening: Promise<T>,
): Promise<T> {
  const opened = await opening;
  stack.defer(() => opened.close());
  return opened;
}
