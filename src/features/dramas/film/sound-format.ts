/** All sound is mixed in one format: two channels, 16 bits each. */
export const samplesPerSecond = 48_000;
export const channelCount = 2;
export const bytesPerSample = 2 * channelCount;
export const bytesPerSecond = samplesPerSecond * bytesPerSample;

/** For ffmpeg, before the path of a file that is read or written so. */
export const soundInput = ["-f", "s16le", "-ar", String(samplesPerSecond), "-ac", String(channelCount), "-i"];
export const soundFormat = ["-vn", "-ac", String(channelCount), "-ar", String(samplesPerSecond), "-f", "s16le"];
