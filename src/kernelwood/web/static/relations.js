// Classes of candidates: "none", "Binds", "Activates(e1,e2)", "Activates(e2,e1)". Pure functions.

export const NONE = "none";

/** @typedef {{label: string, type: string, direction: "forward"|"backward"|null}} Relation */

/** The parts of a class. @returns {Relation} */
export function relationOf(label) {
  const found = /^([^]*)\((e1,e2|e2,e1)\)$/.exec(label);
  if (!found) return { label, type: label, direction: null };
  return { label, type: found[1], direction: found[2] === "e1,e2" ? "forward" : "backward" };
}

/** The relation of a type, in a direction if the type has one. @returns {Relation} */
export function relationWith(type, direction) {
  if (type.symmetric) return { label: type.name, type: type.name, direction: null };
  const order = direction === "backward" ? "e2,e1" : "e1,e2";
  return { label: `${type.name}(${order})`, type: type.name, direction: direction || "forward" };
}

/** A relation in the opposite direction; the same relation if it has none. @returns {Relation} */
export function flipped(relation) {
  if (!relation.direction) return relation;
  const direction = relation.direction === "forward" ? "backward" : "forward";
  return relationWith({ name: relation.type, symmetric: false }, direction);
}

/** First and second argument of a relation; entities are given in the order of the text. */
export function argumentsOf(relation, first, second) {
  return relation.direction === "backward" ? [second, first] : [first, second];
}

/**
 * The relation of a candidate that was accepted already, or null: its decision, or its annotation
 * in the order of accepted relations.
 */
function acceptedRelation({ decision, annotation, reason }) {
  const found = (decision && decision.relation) || (reason === "doubtful" ? annotation : null);
  return found && found.type !== NONE ? found : null;
}

/**
 * What "accept" would store, or null without a prediction: a relation that was accepted already,
 * so that flipping and accepting corrects its direction, or what is predicted, which is none if
 * the best relation is below the threshold.
 * @returns {Relation|null}
 */
export function proposal(candidate, turned = false) {
  const { prediction } = candidate;
  const predicted = prediction && (prediction.positive ? prediction.relation : relationOf(NONE));
  const base = acceptedRelation(candidate) || predicted;
  return base && turned ? flipped(base) : base;
}

/** The relation that a type button would store, in the direction of the best relation. */
export function choice(candidate, type, turned = false) {
  const { prediction } = candidate;
  const base = acceptedRelation(candidate) || (prediction && prediction.relation);
  let direction = (base && base.direction) || "forward";
  if (turned) direction = direction === "forward" ? "backward" : "forward";
  return relationWith(type, direction);
}

/** Probability of a class by the prediction of a candidate, or null. */
export function probabilityOf(prediction, label) {
  const found = prediction && prediction.probabilities.find(([name]) => name === label);
  return found ? found[1] : null;
}

/** A relation in words, such as "Raf Activates MEK1". */
export function inWords(relation, first, second) {
  if (!relation) return "skipped";
  if (relation.type === NONE) return `no relation between ${first.text} and ${second.text}`;
  const [from, to] = argumentsOf(relation, first, second);
  return `${from.text} ${relation.type} ${to.text}`;
}

/** The direction of a relation as an arrow from first to second name of the text, or "". */
export function arrowOf(relation) {
  return { forward: " →", backward: " ←" }[relation.direction] || "";
}

/** Number of one of `n` colors for a name: its place in a list, so that colors are stable. */
export function colorNumber(names, name, n) {
  const place = names.indexOf(name);
  return place < 0 ? n - 1 : place % n;
}

/**
 * The decision of a candidate, or null. A comment on an undecided candidate comes as a decision
 * without id.
 */
export function decisionOf(candidate) {
  const { decision } = candidate;
  return decision && decision.id !== null ? decision : null;
}

/** The relation that a candidate is decided, or else predicted, to have; null if unknown. */
export function relationShown(candidate) {
  const decision = decisionOf(candidate);
  if (decision) return decision.relation;
  return candidate.prediction ? candidate.prediction.relation : null;
}

/** State of a candidate: "accepted", "rejected", "skipped", "predicted" or "negative". */
export function stateOf(candidate) {
  const { prediction } = candidate;
  const decision = decisionOf(candidate);
  if (decision) {
    if (!decision.relation) return "skipped";
    return decision.relation.type === NONE ? "rejected" : "accepted";
  }
  return prediction && prediction.positive ? "predicted" : "negative";
}
