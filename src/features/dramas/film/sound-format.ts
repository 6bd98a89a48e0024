/** The mixing format: 48 kHz, stereo, 16 bits. */
export const samplesPerSecond = 48_000;
export const channelCount = 2;
export const bytesPerSample = 2 * channelCount;
export const bytesPerSecond = samplesPerSecond * bytesPerSample;

/** ffmpeg options before the path of an input or output in this format. */
export const soundInput = ["-f", "s16le", "-ar", String(samplesPerSecond), "-ac", String(channelCount), "-i"];
export const soundFormat = ["-vn", "-ac", String(channelCount), "-ar", String(samplesPerSecond), "-f", "s16le"];
