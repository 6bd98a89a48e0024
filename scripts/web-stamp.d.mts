export const builtWebDir: string;
export const webStampPath: string;
export function computeWebStamp(): string;
export function isWebBuilt(): boolean;
