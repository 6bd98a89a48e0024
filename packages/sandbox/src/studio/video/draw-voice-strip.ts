/** A strip at the bottom of a video that shows the voice as bars, newest in the middle. */
export type VoiceStrip = { width: number; height: number };

const barsPerSide = 26;
const barColour = [255, 255, 255] as const;
const newColour = [255, 205, 140] as const;

/**
 * Draws the strip into RGBA pixels (alpha not premultiplied), which are overwritten. `levels` is the loudness of each
 * frame, `index` the current one.
 */
export function drawVoiceStrip(pixels: Uint8Array, strip: VoiceStrip, levels: Float32Array, index: number): void {
  const { width, height } = strip;
  drawShade(pixels, strip, levels[index] ?? 0);
  const pitch = (width * 0.62) / (2 * barsPerSide);
  const middle = height * 0.58;
  for (let bar = -barsPerSide; bar <= barsPerSide; bar += 1) {
    const age = Math.abs(bar);
    const level = levels[index - age] ?? 0;
    const fade = 1 - age / (barsPerSide + 4);
    const half = Math.max(pitch * 0.28, level * height * 0.34 * (0.35 + 0.65 * fade));
    const colour = age < 2 ? newColour : barColour;
    drawBar(
      pixels,
      strip,
      { x: width / 2 + bar * pitch, middle, half, radius: pitch * 0.28, opacity: 0.25 + 0.7 * fade },
      colour,
    );
  }
}

/** A shadow that makes the bars visible on any image, with some light when the voice is loud. */
function drawShade(pixels: Uint8Array, { width, height }: VoiceStrip, level: number): void {
  for (let y = 0; y < height; y += 1) {
    const share = y / height;
    const opacity = Math.round(150 * share * share);
    const glow = Math.round(70 * level * share);
    for (let x = 0, at = y * width * 4; x < width; x += 1, at += 4) {
      const near = 1 - Math.abs(x / width - 0.5) * 2;
      const light = glow * near;
      pixels[at] = light * 1.2;
      pixels[at + 1] = light * 0.8;
      pixels[at + 2] = light * 0.45;
      pixels[at + 3] = opacity;
    }
  }
}

type Bar = { x: number; middle: number; half: number; radius: number; opacity: number };

/** A bar with round ends: all pixels within its radius of its axis. */
function drawBar(
  pixels: Uint8Array,
  strip: VoiceStrip,
  { x, middle, half, radius, opacity }: Bar,
  colour: readonly number[],
): void {
  const top = Math.max(0, Math.floor(middle - half - radius));
  const bottom = Math.min(strip.height, Math.ceil(middle + half + radius));
  for (let y = top; y < bottom; y += 1) {
    const beyond = Math.max(0, Math.abs(y + 0.5 - middle) - half);
    for (
      let column = Math.max(0, Math.floor(x - radius));
      column <= Math.min(strip.width - 1, Math.ceil(x + radius));
      column += 1
    ) {
      const share = Math.min(1, Math.max(0, radius + 0.5 - Math.hypot(column + 0.5 - x, beyond))) * opacity;
      if (share <= 0) continue;
      const at = (y * strip.width + column) * 4;
      const under = ((pixels[at + 3] ?? 0) / 255) * (1 - share);
      const whole = share + under;
      for (let channel = 0; channel < 3; channel += 1) {
        pixels[at + channel] = ((colour[channel] ?? 0) * share + (pixels[at + channel] ?? 0) * under) / whole;
      }
      pixels[at + 3] = whole * 255;
    }
  }
}
