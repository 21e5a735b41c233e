// Two threads with trees, maps and text, and the work of the garbage collector.
import java.util.*;

public class Work {
    static class Node {
        Node left, right;
        int value;
    }

    static Node tree(int depth) {
        if (depth == 0) {
            return null;
        }
        Node node = new Node();
        node.left = tree(depth - 1);
        node.right = tree(depth - 1);
        node.value = depth;
        return node;
    }

    static int sum(Node node) {
        return node == null ? 0 : node.value + sum(node.left) + sum(node.right);
    }

    static int words(int count) {
        Map<String, Integer> counts = new HashMap<>();
        for (int i = 0; i < count; i++) {
            counts.merge("k" + (i * 7919L) % 1000, i, Integer::sum);
        }
        List<String> names = new ArrayList<>(counts.keySet());
        Collections.sort(names);
        return String.join(" ", names).length();
    }

    static long work(int rounds) {
        long total = 0;
        for (int i = 0; i < rounds; i++) {
            total += sum(tree(14)) + words(4000);
        }
        return total;
    }

    public static void main(String[] words) throws Exception {
        int rounds = words.length > 0 ? Integer.parseInt(words[0]) : 300;
        long[] other = new long[1];
        Thread thread = new Thread(() -> other[0] = work(rounds));
        thread.start();
        long own = work(rounds);
        thread.join();
        System.out.println(own + other[0]);
    }
}
