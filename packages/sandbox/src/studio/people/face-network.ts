/** Values of a square image by row, column and channel. */
type FeatureMap = { values: Float32Array; side: number; channels: number };

export type FaceWeights = ReadonlyMap<string, Float32Array>;

/**
 * The tensors of face-weights.bin in their order: name, length, and the scale and offset of their bytes. Rounding them
 * would change the weights.
 */
const tensors: readonly [name: string, length: number, scale: number, min: number][] = [
  ["conv0/filters", 432, 0.009007044399485869, -1.2069439495311063],
  ["conv0/bias", 16, 0.005263455241334205, -0.9211046672334858],
  ["conv1/depthwise_filter", 144, 0.004001977630690033, -0.5042491814669441],
  ["conv1/pointwise_filter", 512, 0.013836609615999109, -1.411334180831909],
  ["conv1/bias", 32, 0.0015159862590771096, -0.30926119685173037],
  ["conv2/depthwise_filter", 288, 0.002666276225856706, -0.317286870876948],
  ["conv2/pointwise_filter", 2048, 0.015265831292844286, -1.6792414422128714],
  ["conv2/bias", 64, 0.0020280554598453, -0.37113414915168985],
  ["conv3/depthwise_filter", 576, 0.006100742489683862, -0.8907084034938438],
  ["conv3/pointwise_filter", 8192, 0.016276211832083907, -2.0508026908425725],
  ["conv3/bias", 128, 0.003394414279975143, -0.7637432129944072],
  ["conv4/depthwise_filter", 1152, 0.006716050119961009, -0.8059260143953211],
  ["conv4/pointwise_filter", 32768, 0.021875603993733724, -2.8875797271728514],
  ["conv4/bias", 256, 0.0041141652009066415, -0.8187188749804216],
  ["conv5/depthwise_filter", 2304, 0.008423839597141042, -0.9013508368940915],
  ["conv5/pointwise_filter", 131072, 0.030007277283014035, -3.8709387695088107],
  ["conv5/bias", 512, 0.008402082966823203, -1.4871686851277068],
  ["conv8/filters", 12800, 0.028336129469030042, -4.675461362389957],
  ["conv8/bias", 25, 0.002268134028303857, -0.41053225912299807],
];

/** Subtracted from red, green and blue, as in the training. */
const meanColour = [117.001, 114.697, 97.404] as const;
const leak = 0.1;
/** A cell of the last layer describes five boxes by four sides and a score. */
const [boxes, numbersPerBox] = [5, 5];

export function readFaceWeights(bytes: Uint8Array): FaceWeights {
  const weights = new Map<string, Float32Array>();
  let start = 0;
  for (const [name, length, scale, min] of tensors) {
    weights.set(
      name,
      Float32Array.from(bytes.subarray(start, start + length), (byte) => byte * scale + min),
    );
    start += length;
  }
  if (start !== bytes.length) throw new Error(`The face weights have ${bytes.length} bytes instead of ${start}.`);
  return weights;
}

/**
 * The score of the most likely face in a square RGB image, from 0 to 1: the Tiny Face Detector of face-api.js. Finds
 * faces of about a tenth of the side and larger, so a larger image finds smaller ones. A side of 224 takes 0.1 s.
 */
export function scoreFace(pixels: Uint8Array, side: number, weights: FaceWeights): number {
  const values = Float32Array.from(pixels, (value, index) => (value - (meanColour[index % 3] ?? 0)) / 255);
  let map = halve(convolve({ values, side, channels: 3 }, weights));
  for (const layer of ["conv1", "conv2", "conv3", "conv4"]) map = halve(convolveByChannel(map, layer, weights));
  // The original also takes the maximum of neighbouring cells here.
  map = takeMaximum(convolveByChannel(map, "conv5", weights), 1);
  return findBestScore(map, weights);
}

function getTensor(weights: FaceWeights, name: string): Float32Array {
  const tensor = weights.get(name);
  if (tensor === undefined) throw new Error(`There are no weights ${name}.`);
  return tensor;
}

/** The first layer: 3 × 3 pixels of all colours, without the border. */
function convolve({ values, side, channels }: FeatureMap, weights: FaceWeights): FeatureMap {
  const [filters, bias] = [getTensor(weights, "conv0/filters"), getTensor(weights, "conv0/bias")];
  const [outSide, outChannels] = [side - 2, bias.length];
  const out = new Float32Array(outSide * outSide * outChannels);
  for (let cell = 0; cell < outSide * outSide; cell += 1) {
    const corner = Math.floor(cell / outSide) * side + (cell % outSide);
    const sums = out.subarray(cell * outChannels, (cell + 1) * outChannels);
    sums.set(bias);
    for (let tap = 0; tap < 9; tap += 1) {
      const pixel = (corner + Math.floor(tap / 3) * side + (tap % 3)) * channels;
      for (let channel = 0; channel < channels; channel += 1) {
        addScaled(sums, filters, (tap * channels + channel) * outChannels, values[pixel + channel] ?? 0);
      }
    }
    activate(sums);
  }
  return { values: out, side: outSide, channels: outChannels };
}

/** A depthwise separable convolution: 3 × 3 cells within each channel, then all channels of one cell. */
function convolveByChannel({ values, side, channels }: FeatureMap, layer: string, weights: FaceWeights): FeatureMap {
  const depthwise = getTensor(weights, `${layer}/depthwise_filter`);
  const pointwise = getTensor(weights, `${layer}/pointwise_filter`);
  const bias = getTensor(weights, `${layer}/bias`);
  const out = new Float32Array(side * side * bias.length);
  const around = new Float32Array(channels);
  for (let cell = 0; cell < side * side; cell += 1) {
    const [row, column] = [Math.floor(cell / side), cell % side];
    around.fill(0);
    for (let tap = 0; tap < 9; tap += 1) {
      const [y, x] = [row + Math.floor(tap / 3) - 1, column + (tap % 3) - 1];
      if (y < 0 || y >= side || x < 0 || x >= side) continue;
      const from = (y * side + x) * channels;
      for (let channel = 0; channel < channels; channel += 1) {
        around[channel] =
          (around[channel] ?? 0) + (values[from + channel] ?? 0) * (depthwise[tap * channels + channel] ?? 0);
      }
    }
    const sums = out.subarray(cell * bias.length, (cell + 1) * bias.length);
    sums.set(bias);
    for (let channel = 0; channel < channels; channel += 1) {
      addScaled(sums, pointwise, channel * bias.length, around[channel] ?? 0);
    }
    activate(sums);
  }
  return { values: out, side, channels: bias.length };
}

function addScaled(sums: Float32Array, filters: Float32Array, start: number, factor: number): void {
  for (let index = 0; index < sums.length; index += 1) {
    sums[index] = (sums[index] ?? 0) + factor * (filters[start + index] ?? 0);
  }
}

function activate(sums: Float32Array): void {
  for (let index = 0; index < sums.length; index += 1) {
    const value = sums[index] ?? 0;
    if (value < 0) sums[index] = value * leak;
  }
}

function halve(map: FeatureMap): FeatureMap {
  return takeMaximum(map, 2);
}

/** The maximum of 2 × 2 cells. */
function takeMaximum({ values, side, channels }: FeatureMap, stride: 1 | 2): FeatureMap {
  const outSide = Math.ceil(side / stride);
  const out = new Float32Array(outSide * outSide * channels).fill(Number.NEGATIVE_INFINITY);
  for (let cell = 0; cell < outSide * outSide; cell += 1) {
    for (let tap = 0; tap < 4; tap += 1) {
      const y = Math.floor(cell / outSide) * stride + (tap >> 1);
      const x = (cell % outSide) * stride + (tap & 1);
      if (y >= side || x >= side) continue;
      for (let channel = 0; channel < channels; channel += 1) {
        const value = values[(y * side + x) * channels + channel] ?? 0;
        if (value > (out[cell * channels + channel] ?? 0)) out[cell * channels + channel] = value;
      }
    }
  }
  return { values: out, side: outSide, channels };
}

function findBestScore({ values, side, channels }: FeatureMap, weights: FaceWeights): number {
  const [filters, bias] = [getTensor(weights, "conv8/filters"), getTensor(weights, "conv8/bias")];
  let best = Number.NEGATIVE_INFINITY;
  for (let cell = 0; cell < side * side; cell += 1) {
    for (let box = 0; box < boxes; box += 1) {
      const output = box * numbersPerBox + 4;
      let sum = bias[output] ?? 0;
      for (let channel = 0; channel < channels; channel += 1) {
        sum += (values[cell * channels + channel] ?? 0) * (filters[channel * bias.length + output] ?? 0);
      }
      best = Math.max(best, sum);
    }
  }
  return 1 / (1 + Math.exp(-best));
}
