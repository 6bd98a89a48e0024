/** Runs work, then closes its resources in reverse order. */
export async function withStack<T>(work: (stack: AsyncDisposableStack) => Promise<T>): Promise<T> {
  const stack = new AsyncDisposableStack();
  try {
    return await work(stack);
  } finally {
    await stack.disposeAsync();
  }
}

/** Opens a resource that the stack closes. */
export async function openWith<T extends { close(): Promise<void> }>(
  stack: AsyncDisposableStack,
  opening: Promise<T>,
): Promise<T> {
  const opened = await opening;
  stack.defer(() => opened.close());
  return opened;
}
