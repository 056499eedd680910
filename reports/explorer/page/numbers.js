// How numbers are written: as the Markdown report writes them, to the last digit.

const NONE = "–";

/** Write a number with so many decimals, ties to even as Python rounds them, thousands apart. */
function fixed(value, digits) {
  const size = Math.abs(value);
  const scale = 10 ** digits;
  let text = size.toFixed(digits);
  if ((size * 2 ** (digits + 1)) % 2 === 1) {
    const below = Math.floor(size * scale);
    text = ((below % 2 ? below + 1 : below) / scale).toFixed(digits);
  }
  const [whole, decimals] = text.split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return (value < 0 ? "-" : "") + grouped + (decimals ? `.${decimals}` : "");
}

const isShare = (measure) => !DATA.counts.includes(measure);

/** By what a value is multiplied, and how many digits follow its point: of a share in percent or as a fraction, of another value as it is. */
const style = (measure) => (!isShare(measure) ? [1, 2] : DATA.fraction ? [1, 4] : [100, 1]);

/** Write the value of a measure without its unit; of a share where none is named. */
function percent(value, measure) {
  if (value === null || value === undefined) return NONE;
  const [factor, digits] = style(measure);
  return fixed(factor * value, digits);
}

/** Write a difference, always with its sign; no difference is never negative. */
function signed(value, measure) {
  const [factor, digits] = style(measure);
  const text = fixed(Math.abs(factor * value), digits);
  return (value < 0 && Number(text) !== 0 ? "-" : "+") + text;
}

/** The units of a value and of a difference, after what stands `before` them; none of a fraction or a count. */
const inPercent = (measure, before = " ") => (style(measure)[0] === 100 ? `${before}%` : "");
const inPoints = (measure, before = " ") => (style(measure)[0] === 100 ? `${before}pp` : "");
const scaleWords = () => (DATA.fraction ? "as fractions" : "in percent");

const bounds = (low, high, measure) => (low === null || high === null ? NONE : `[${signed(low, measure)}, ${signed(high, measure)}]`);

const interval = (cell, measure) =>
  percent(cell.mean, measure) + (cell.low === null ? "" : ` [${percent(cell.low, measure)}, ${percent(cell.high, measure)}]`);

function milliseconds(value) {
  if (value === null || value === undefined) return NONE;
  return fixed(value, value < 10 ? 2 : value < 100 ? 1 : 0);
}

function probability(p) {
  if (p === null || p === undefined) return NONE;
  return p < 0.001 ? "<.001" : fixed(p, 3).replace(/^0/, "");
}

/** Write a retrieval score: four significant digits, which is all that is stored. */
const score = (value) => (value === 0 ? "0" : String(Number(value.toPrecision(4))));

const count = (value) => fixed(value, 0);

/** Write a parameter of a sweep. */
function parameter(value) {
  if (value === null || value === undefined) return NONE;
  return typeof value === "number"
    ? String(Number(value.toPrecision(6)))
    : typeof value === "object"
      ? JSON.stringify(value)
      : String(value);
}

const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;
