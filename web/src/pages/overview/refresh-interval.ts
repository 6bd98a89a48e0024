/** The page keeps up by itself while somebody looks at it. */
export const refreshMs = 5_000;
