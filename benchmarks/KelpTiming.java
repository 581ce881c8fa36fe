import it.uniroma2.sag.kelp.data.manipulator.LexicalStructureElementManipulator;
import it.uniroma2.sag.kelp.data.representation.Representation;
import it.uniroma2.sag.kelp.data.representation.sequence.SequenceRepresentation;
import it.uniroma2.sag.kelp.data.representation.structure.CompositionalStructureElement;
import it.uniroma2.sag.kelp.data.representation.structure.similarity.LexicalStructureElementSimilarity;
import it.uniroma2.sag.kelp.data.representation.structure.similarity.compositional.sum.CompositionalNodeSimilaritySum;
import it.uniroma2.sag.kelp.data.representation.tree.TreeRepresentation;
import it.uniroma2.sag.kelp.data.representation.tree.node.TreeNode;
import it.uniroma2.sag.kelp.kernel.DirectKernel;
import it.uniroma2.sag.kelp.kernel.sequence.SequenceKernel;
import it.uniroma2.sag.kelp.kernel.tree.PartialTreeKernel;
import it.uniroma2.sag.kelp.kernel.tree.SmoothedPartialTreeKernel;
import it.uniroma2.sag.kelp.kernel.tree.SubSetTreeKernel;
import it.uniroma2.sag.kelp.wordspace.Wordspace;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Time a kernel of KeLP on all pairs i >= j of the first N representations of a file.
 *
 * <pre>java -cp JARS KelpTiming.java KERNEL FILE N [VECTORS]</pre>
 *
 * FILE has one tree or sequence a line in the syntax of KeLP, without the markers around it. The
 * kernels, unnormalized, with the parameters they have here:
 * <ul>
 * <li>sst: subset trees, lambda 0.4, leaves not counted by themselves (includeLeaves = false);
 * <li>sst-leaves: the same with includeLeaves = true, KeLP's default;
 * <li>ptk: partial trees, lambda = mu = 0.4, terminalFactor 1;
 * <li>seq3, seq4: subsequences of lengths 1 to 3 or 4, lambda 0.75 (KeLP's default);
 * <li>sptk: smoothed partial trees with the cosine of word vectors, threshold 0.01;
 * <li>csptk: the same with the sum of the vectors of head and modifier at COMP nodes.
 * </ul>
 * The last two need VECTORS, a word space file of KeLP ("word TAB number TAB number TAB v1,v2,...").
 * The vectors are attached to the nodes beforehand, as KeLP's manipulators do.
 *
 * All pairs are evaluated twice to warm up, then three times with the clock on. Printed is a line of
 * JSON: nanoseconds a pair, the minimum of the three, in CPU time of the evaluating thread
 * (ns_per_pair) and of the whole process with garbage collection and compilation
 * (process_ns_per_pair), and the sum of the values (checksum).
 */
public final class KelpTiming {

    private static final int WARM_UPS = 2;
    private static final int REPEATS = 3;
    private static final float DECAY = 0.4f;
    private static final float GAP_DECAY = 0.75f;
    private static final float THRESHOLD = 0.01f;
    private static final String VIEW = "view"; // KeLP's name of the representation: not used here

    public static void main(String[] arguments) throws Exception {
        if (arguments.length < 3) {
            System.err.println("usage: java -cp JARS KelpTiming.java KERNEL FILE N [VECTORS]");
            System.exit(2);
        }
        String name = arguments[0];
        boolean sequences = name.startsWith("seq");
        List<Representation> items = read(Path.of(arguments[1]), Integer.parseInt(arguments[2]), sequences);
        Wordspace words = name.endsWith("sptk") ? new Wordspace(arguments[3]) : null;
        System.out.println(time(name, kernel(name, words, items), items));
    }

    private static List<Representation> read(Path file, int n, boolean sequences) throws Exception {
        List<Representation> items = new ArrayList<>();
        for (String line : Files.readAllLines(file, StandardCharsets.UTF_8)) {
            if (items.size() == n) {
                break;
            }
            Representation item = sequences ? new SequenceRepresentation() : new TreeRepresentation();
            item.setDataFromText(line);
            items.add(item);
        }
        return items;
    }

    private static DirectKernel<?> kernel(String name, Wordspace words, List<Representation> items)
            throws Exception {
        switch (name) {
            case "sst":
            case "sst-leaves":
                SubSetTreeKernel subsets = new SubSetTreeKernel(DECAY, VIEW);
                subsets.setIncludeLeaves(name.equals("sst-leaves"));
                return subsets;
            case "ptk":
                return new PartialTreeKernel(DECAY, DECAY, 1f, VIEW);
            case "seq3":
                return new SequenceKernel(VIEW, 3, GAP_DECAY);
            case "seq4":
                return new SequenceKernel(VIEW, 4, GAP_DECAY);
            case "sptk":
                LexicalStructureElementSimilarity lexical = new LexicalStructureElementSimilarity(words);
                for (Representation item : items) {
                    LexicalStructureElementManipulator.enrichTreeRepresentation(
                            (TreeRepresentation) item, words, lexical.getEnrichmentName());
                }
                return new SmoothedPartialTreeKernel(DECAY, DECAY, 1f, THRESHOLD, lexical, VIEW);
            case "csptk":
                CompositionalNodeSimilaritySum sum = new CompositionalNodeSimilaritySum(words, true, false);
                for (Representation item : items) {
                    compose((TreeRepresentation) item, sum);
                }
                // KeLP compares the vectors of LEX nodes here too, and drops the result.
                for (Representation item : items) {
                    LexicalStructureElementManipulator.enrichTreeRepresentation(
                            (TreeRepresentation) item, words,
                            LexicalStructureElementManipulator.DEFAULT_ENRICHMENT_NAME);
                }
                return new SmoothedPartialTreeKernel(DECAY, DECAY, 1f, THRESHOLD, sum, VIEW);
            default:
                throw new IllegalArgumentException("unknown kernel " + name);
        }
    }

    /** Attach the composed vectors of a tree to its COMP nodes. */
    private static void compose(TreeRepresentation tree, CompositionalNodeSimilaritySum similarity) {
        for (TreeNode node : tree.getAllNodes()) {
            if (node.getContent() instanceof CompositionalStructureElement) {
                CompositionalStructureElement pair = (CompositionalStructureElement) node.getContent();
                pair.addAdditionalInformation(similarity.getEnrichmentName(),
                        similarity.getCompositionalInformationFor(pair.getHead(), pair.getModifier()));
            }
        }
    }

    @SuppressWarnings("unchecked")
    private static <T extends Representation> String time(String name, DirectKernel<?> untyped,
            List<Representation> representations) {
        DirectKernel<T> kernel = (DirectKernel<T>) untyped;
        List<T> items = (List<T>) representations;
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        com.sun.management.OperatingSystemMXBean process =
                (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        double checksum = 0;
        for (int i = 0; i < WARM_UPS; i++) {
            checksum = sum(kernel, items);
        }
        long thread = Long.MAX_VALUE;
        long whole = Long.MAX_VALUE;
        for (int i = 0; i < REPEATS; i++) {
            long threadStart = threads.getCurrentThreadCpuTime();
            long wholeStart = process.getProcessCpuTime();
            double found = sum(kernel, items);
            thread = Math.min(thread, threads.getCurrentThreadCpuTime() - threadStart);
            whole = Math.min(whole, process.getProcessCpuTime() - wholeStart);
            if (found != checksum) {
                throw new IllegalStateException("the values differ from run to run");
            }
        }
        long pairs = (long) items.size() * (items.size() + 1) / 2;
        return String.format(Locale.ROOT,
                "{\"kernel\": \"%s\", \"n\": %d, \"pairs\": %d, \"ns_per_pair\": %.1f,"
                        + " \"process_ns_per_pair\": %.1f, \"checksum\": %.9g}",
                name, items.size(), pairs, (double) thread / pairs, (double) whole / pairs, checksum);
    }

    private static <T extends Representation> double sum(DirectKernel<T> kernel, List<T> items) {
        double sum = 0;
        for (int i = 0; i < items.size(); i++) {
            for (int j = 0; j <= i; j++) {
                sum += kernel.kernelComputation(items.get(i), items.get(j));
            }
        }
        return sum;
    }
}
