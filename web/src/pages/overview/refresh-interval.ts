export const refreshMs = 5_000;
